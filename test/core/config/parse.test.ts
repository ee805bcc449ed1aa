import { describe, expect, it } from "vitest";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import { failure } from "./files.ts";

describe("a configuration in code", () => {
  it("gives the same as a file", () => {
    const config = parseAgentConfig({
      servers: {
        files: { command: "npx", args: ["x"], env: { A: "${A}" }, cwd: "data", toolPrefix: "fs" },
        docs: { url: "https://example.com/mcp", transport: "streamable-http" },
      },
      toolNames: "{server}__{tool}",
      startupWait: 500,
      workspace: "work",
    });
    expect(config).toMatchObject({
      agentId: "default",
      toolNames: "{server}__{tool}",
      startupWait: 500,
      workspace: "work",
      servers: [
        {
          name: "files",
          origin: "agent",
          toolPrefix: "fs",
          timeout: 30_000,
          target: { kind: "stdio", command: "npx", args: ["x"], env: { A: "${A}" }, cwd: "data" },
        },
        { name: "docs", target: { kind: "http", url: "https://example.com/mcp", headers: {} } },
      ],
    });
    expect(config.servers[0]?.target.baseDir).toBeUndefined();
    expect(config.file).toBeUndefined();
  });

  it("needs nothing but servers", () => {
    expect(parseAgentConfig({ servers: {} })).toEqual({
      agentId: "default",
      servers: [],
      toolNames: "mcp__{server}__{tool}",
      warnings: [],
    });
  });

  it("may have keys that are undefined", () => {
    const { servers, warnings } = parseAgentConfig({
      servers: { a: { command: "x", cwd: undefined, url: undefined, pins: undefined } },
      toolNames: undefined,
    });
    expect(servers[0]?.target).toEqual({ kind: "stdio", command: "x", args: [], env: {} });
    expect(warnings).toEqual([]);
  });

  it("does not change when the caller changes what it gave", () => {
    const args = ["a"];
    const env: Record<string, string> = { A: "1" };
    const { servers } = parseAgentConfig({ servers: { a: { command: "x", args, env } } });
    args.push("b");
    env["B"] = "2";
    expect(servers[0]?.target).toMatchObject({ args: ["a"], env: { A: "1" } });
    expect(servers[0]?.target).not.toHaveProperty("env.B");
  });

  it("has warnings without lines", () => {
    const { warnings } = parseAgentConfig({
      servers: { a: { command: "x", include: "agent", timeout: 5 } },
      startupWait: 3,
    });
    expect(warnings).toEqual([
      { path: "startupWait", message: "is 3 milliseconds; did you mean 3000?" },
      { path: "servers.a.timeout", message: "is 5 milliseconds; did you mean 5000?" },
    ]);
  });

  it.each<[string, unknown, string[]]>([
    ["nothing", undefined, ["is missing; expected an object"]],
    ["null", null, ["is null; expected an object"]],
    ["no servers", {}, ["servers  is missing; expected an object"]],
    ["a list", { servers: [] }, ["servers  is a list; expected an object"]],
    ["a function", { servers: () => ({}) }, ["servers  is a function; expected an object"]],
    [
      "mistakes",
      { servers: { "a b/": { comand: "x" }, c: {} }, toolName: "x" },
      [
        'toolName  unknown key; did you mean "toolNames"?',
        'servers["a b/"]  has a "/" in its name; expected one without',
        'servers["a b/"].comand  unknown key; did you mean "command"?',
        'servers.c  has neither "command" nor "url"; expected one of them',
      ],
    ],
    [
      "a file's structure",
      { agents: {}, servers: {} },
      [
        "agents  unknown key; expected servers, toolNames, toolNameLength, startupWait, resourceTools, toolSearch, roots, networkAllow, secrets, workspace, tools, approval, framing, pins, limits, session or audit",
      ],
    ],
  ])("is refused when it is or has %s", async (_, input, lines) => {
    const error = await failure(() => parseAgentConfig(input as BoardConfig));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message.split("\n").slice(1)).toEqual(lines.map((line) => `  ${line}`));
  });
});

describe("resourceTools in code", () => {
  it("is passed on", () => {
    expect(parseAgentConfig({ servers: {} }).resourceTools).toBeUndefined();
    expect(parseAgentConfig({ servers: {}, resourceTools: true }).resourceTools).toBe(true);
  });
});
