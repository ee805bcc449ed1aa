import { describe, expect, it } from "vitest";
import { escapeReferences, parseClientServer } from "../../../src/core/config/client-server.ts";

const STDIO = { command: "run" };
const PATH = ["mcpServers", 0];

describe("a server that a client brings", () => {
  it.each([
    [undefined, {}],
    [{}, {}],
    [{ other: 1 }, {}],
    [{ plugboard: null }, {}],
    [{ plugboard: { timeout: 5, include: "manual" } }, { timeout: 5, include: "manual" }],
  ])("with the _meta %j is valid", (meta, settings) => {
    expect(parseClientServer("docs", STDIO, meta, PATH)).toEqual({
      kind: "valid",
      config: { ...STDIO, ...settings },
    });
  });

  it.each([
    [STDIO, { plugboard: 1 }, "_meta.plugboard", "is a number; expected an object"],
    [
      STDIO,
      { plugboard: { include: "alwys" } },
      "_meta.plugboard.include",
      "always, manual, agent",
    ],
    [STDIO, { plugboard: { trusted: true } }, "_meta.plugboard.trusted", "unknown key"],
    [{ env: { LD_PRELOAD: "x" } }, {}, "env.LD_PRELOAD", "loads libraries into every program"],
    [{ url: "file:///etc" }, {}, "url", 'the scheme "file"'],
  ])("%j with the _meta %j is invalid", (connection, meta, path, words) => {
    expect(parseClientServer("docs", connection, meta, PATH)).toEqual({
      kind: "invalid",
      path: `mcpServers[0].${path}`,
      message: expect.stringContaining(words),
    });
  });

  it.each(["native", "a/b", " x"])("may not be called %j", (name) => {
    expect(parseClientServer(name, STDIO, undefined, PATH)).toMatchObject({ kind: "bad-name" });
  });
});

describe("a client's value", () => {
  it.each([
    ["plain $5", "plain $5"],
    ["${HOME}", "$${HOME}"],
    ["$${A}", "$$${A}"],
    ["x secret://env/HOME", undefined],
    ["x ${secret://env/HOME}", undefined],
    ["op://vault/item/field", undefined],
    ["x ${op://vault/item/field}", undefined],
    ["stop://vault", "stop://vault"],
  ])("%j is escaped", (value, escaped) => {
    expect(escapeReferences(value)).toBe(escaped);
  });
});
