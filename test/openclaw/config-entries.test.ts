import { describe, expect, it } from "vitest";
import {
  denialsExcept,
  denialsIn,
  includeOn,
  sharedEntry,
  slotEntry,
  slotsIn,
} from "../../src/openclaw/config-entries.ts";

const slot = { name: "plugboard-3", port: 7603, token: "abc" };
const { value: entry } = slotEntry(slot);

describe("a slot", () => {
  it("is off, has its own address and token, and time for a person's approval", () => {
    expect(slotEntry(slot)).toEqual({
      path: ["mcp", "servers", "plugboard-3"],
      value: {
        url: "http://127.0.0.1:7603/mcp/plugboard-3",
        transport: "streamable-http",
        headers: { Authorization: "Bearer abc" },
        connectionTimeoutMs: 60_000,
        requestTimeoutMs: 600_000,
        enabled: false,
      },
    });
  });

  it.each<[what: string, name: string, value: unknown, found: unknown[]]>([
    ["as it was written", "plugboard-3", entry, [slot]],
    [
      "that OpenClaw has written again",
      "plugboard-3",
      { ...(entry as object), toolFilter: {} },
      [slot],
    ],
    ["under another name", "mine-3", entry, []],
    ["of somebody else", "plugboard-3", { command: "x" }, []],
    ["with another path", "plugboard-4", entry, []],
    ["without a token", "plugboard-3", { ...(entry as object), headers: {} }, []],
    ["without an address", "plugboard-3", { ...(entry as object), url: "x" }, []],
    ["that is nothing", "plugboard-3", null, []],
  ])("%s is known by its name and its address", (_, name, value, found) => {
    expect(slotsIn({ mcp: { servers: { [name]: value } } }).map((each) => each.slot)).toEqual(
      found,
    );
  });
});

it.each<[object, object]>([
  [
    { command: "plugboard", args: ["serve"] },
    { command: "plugboard", args: ["serve"] },
  ],
  [
    { url: "http://127.0.0.1:7584/mcp", headers: {} },
    { url: "http://127.0.0.1:7584/mcp", transport: "streamable-http", headers: {} },
  ],
])("the shared entry for %j has the timeouts that OpenClaw needs", (target, expected) => {
  expect(sharedEntry(target as Record<string, unknown>)).toEqual({
    path: ["mcp", "servers", "plugboard"],
    value: { ...expected, connectionTimeoutMs: 60_000, requestTimeoutMs: 600_000 },
  });
});

describe("rules for other agents", () => {
  const config = {
    agents: {
      entries: {
        a: {},
        b: { tools: { deny: ["x"] } },
        c: { tools: { deny: ["plugboard__*", "y"] } },
      },
    },
  };

  it.each<[what: string, agents: string[], expected: (string | number)[][]]>([
    ["none, where no agent is named", [], []],
    [
      "one for each that is not named, at the end of what it has",
      ["a"],
      [
        ["b", "tools", "deny", 1],
        ["c", "tools", "deny", 0],
      ],
    ],
    ["for an agent without rules", ["b", "c"], [["a", "tools", "deny", 0]]],
  ])("%s", (_, agents, expected) => {
    expect(denialsExcept(config, agents)).toEqual(
      expected.map((path) => ({ path: ["agents", "entries", ...path], value: "plugboard__*" })),
    );
  });

  it("are found again, also in the list that earlier versions had", () => {
    expect(denialsIn(config)).toEqual([
      { path: ["agents", "entries", "c", "tools", "deny", 0], value: "plugboard__*" },
    ]);
    const list = [{ id: "a" }, { id: "b", tools: { deny: ["plugboard__*"] } }];
    expect(denialsIn({ agents: { list } }).map(({ path }) => path)).toEqual([
      ["agents", "list", 1, "tools", "deny", 0],
    ]);
    expect(denialsExcept({ agents: { list } }, ["b"]).map(({ path }) => path)).toEqual([
      ["agents", "list", 0, "tools", "deny", 0],
    ]);
  });
});

it.each<[config: object, expected: object | undefined]>([
  [{ mcp: { servers: {} } }, undefined],
  [{ mcp: { $include: "./mcp.json5" } }, { path: ["mcp"], files: ["./mcp.json5"] }],
  [{ mcp: { servers: { $include: ["a", "b"] } } }, { path: ["mcp", "servers"], files: ["a", "b"] }],
  [{ $include: "./all.json5" }, { path: [], files: ["./all.json5"] }],
  [{ agents: { $include: "./agents.json5" } }, undefined],
])("knows where a part is in another file: %j", (config, expected) => {
  expect(includeOn(config, ["mcp", "servers"])).toEqual(expected);
});
