// What the plugin reads of OpenClaw's configuration.

import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../../src/openclaw/plugin/openclaw.ts";
import { isDenied, readConnection, readSettings } from "../../../src/openclaw/plugin/settings.ts";

describe("how the board is reached", () => {
  const cases: [string, unknown, object][] = [
    [
      "as the manifest says",
      undefined,
      { kind: "stdio", command: "plugboard", args: ["serve"], env: {}, cwd: "/plugin" },
    ],
    [
      "as an entry of mcp.servers says",
      {
        command: "/opt/plugboard",
        args: ["--agent", "a", "serve"],
        env: { A: "1", B: 2, C: null },
        cwd: "/w",
      },
      {
        kind: "stdio",
        command: "/opt/plugboard",
        args: ["--agent", "a", "serve"],
        env: { A: "1", B: "2" },
        cwd: "/w",
      },
    ],
    [
      "at a URL",
      {
        url: "http://127.0.0.1:7584/mcp",
        transport: "streamable-http",
        headers: { Authorization: "Bearer t" },
      },
      { kind: "http", url: "http://127.0.0.1:7584/mcp", headers: { Authorization: "Bearer t" } },
    ],
    [
      "not, if it is disabled",
      { command: "plugboard", enabled: false },
      { kind: "none", why: "mcp.servers.plugboard is disabled" },
    ],
    ["not, without command and URL", {}, { kind: "none" }],
    ["not at a URL of another scheme", { url: "file:///etc/passwd" }, { kind: "none" }],
  ];
  it.each(cases)("%s", (_, plugboard, expected) => {
    const servers = plugboard === undefined ? {} : { plugboard };
    expect(readConnection({ mcp: { servers } }, "/plugin")).toMatchObject(expected);
  });
});

describe("an agent gets no resources", () => {
  const denied: [string, OpenClawConfig][] = [
    ["if no agent may use the board", { tools: { deny: ["plugboard__*"] } }],
    ["if no agent may use an MCP server", { tools: { deny: ["bundle-mcp"] } }],
    ["if it may not itself", { agents: { entries: { a: { tools: { deny: ["Plugboard__*"] } } } } }],
    [
      "if it may not, in a list of agents",
      { agents: { list: [{ id: "a", tools: { deny: ["*"] } }] } },
    ],
  ];
  it.each(denied)("%s", (_, config) => {
    expect(isDenied(config, "a")).toBe(true);
  });

  it("for no other reason", () => {
    const config = {
      tools: { deny: ["exec", 7] },
      agents: { entries: { b: { tools: { deny: ["plugboard__*"] } } } },
    };
    expect(isDenied(config, "a")).toBe(false);
    expect(isDenied(config, undefined)).toBe(false);
    expect(isDenied({}, "a")).toBe(false);
  });
});

it("without a configuration the plugin changes nothing", () => {
  expect(readSettings(undefined)).toEqual({
    frameOtherServers: false,
    framing: "full",
    leaveUnframed: new Set(),
    resources: false,
    maxResourceBytes: 16_384,
  });
});
