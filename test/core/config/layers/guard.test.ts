import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { definitionHash } from "../../../../src/core/catalog/catalog-cache.ts";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import type { ServerGuard } from "../../../../src/core/types/guard-settings.ts";
import { writeConfig } from "../files.ts";

const BASE = "agents.defaults.mcp.servers.docs.tools";
const OVER = "agents.list[0].mcp.servers.docs.tools";

/** What the guard gets of a server in the defaults, with an override of the agent `it`. */
async function merged(base: string, over: string): Promise<ServerGuard | undefined> {
  const file = await writeConfig(`{ agents: {
    defaults: { mcp: { servers: { docs: { command: "x", ${base} } } } },
    list: [{ id: "it", mcp: { servers: { docs: { ${over} } } } }],
  } }`);
  const { servers } = await loadConfig(file, "it");
  return servers[0]?.guard;
}

function guardOf(config: ServerConfig): ServerGuard | undefined {
  return parseAgentConfig({ servers: { docs: config } }).servers[0]?.guard;
}

describe("the guard settings of a server", () => {
  it.each<[ServerConfig, ServerGuard | undefined]>([
    [{}, undefined],
    [{ tools: {}, approval: undefined }, undefined],
    [{ tools: { allow: undefined, deny: [], ownerOnly: false } }, undefined],
    [{ tools: { ownerOnly: [] }, approval: { tools: {} } }, undefined],
    [{ tools: { allow: [] } }, { rules: [{ place: "servers.docs.tools", allow: [] }] }],
    [
      { tools: { allow: ["a"], deny: ["b"], ownerOnly: ["c"] } },
      { rules: [{ place: "servers.docs.tools", allow: ["a"], deny: ["b"], ownerOnly: ["c"] }] },
    ],
    [{ tools: { ownerOnly: true } }, { rules: [{ place: "servers.docs.tools", ownerOnly: true }] }],
    [{ approval: "ask" }, { approval: { default: "ask" } }],
    [{ approval: { tools: { a: "ask" } } }, { approval: { tools: { a: "ask" } } }],
    [
      { rateLimit: { default: 5, tools: { a: false } } },
      { rateLimit: { default: 5, tools: { a: false } } },
    ],
    [{ rateLimit: false }, { rateLimit: { default: false } }],
    [{ concurrency: 4 }, { concurrency: { default: 4 } }],
    [
      { pins: "block", trusted: true, framing: "compact", maxResultBytes: 2048 },
      { pins: "block", trusted: true, framing: "compact", maxResultBytes: 2048 },
    ],
  ])("%j", (config, expected) => {
    expect(guardOf({ command: "x", ...config })).toEqual(expected);
  });

  it("leave out which tools a model gets", () => {
    expect(guardOf({ command: "x", include: "manual" })).toBeUndefined();
  });

  it("keep tools of any name", async () => {
    const guard = await merged(
      "approval: { tools: { __proto__: 'ask' } }",
      "approval: { tools: { constructor: 'ask' } }",
    );
    expect(Object.entries(guard?.approval?.tools ?? {})).toEqual([
      ["__proto__", "ask"],
      ["constructor", "ask"],
    ]);
    expect(Object.getPrototypeOf(guard?.approval?.tools)).toBeNull();
  });

  it("do not change when the caller changes what it gave", () => {
    const deny = ["a"];
    const tools: Record<string, number> = { a: 1 };
    const guard = guardOf({ command: "x", tools: { deny }, concurrency: { tools } });
    deny.push("b");
    tools["a"] = 2;
    expect(guard).toMatchObject({ rules: [{ deny: ["a"] }], concurrency: { tools: { a: 1 } } });
  });

  it("do not change the identity of the server", () => {
    const hash = (config: ServerConfig) => {
      const [definition] = parseAgentConfig({ servers: { docs: config } }).servers;
      return definition && definitionHash(definition, "/");
    };
    expect(
      hash({ command: "x", tools: { deny: ["a"] }, approval: "ask", trusted: true, rateLimit: 1 }),
    ).toBe(hash({ command: "x" }));
  });
});

describe("an agent's override of a server", () => {
  it.each<[string, string, string, ServerGuard | undefined]>([
    [
      "adds its rules to those of the defaults",
      "tools: { allow: ['a*'], deny: ['b'] }",
      "tools: { allow: ['*c'] }",
      {
        rules: [
          { place: BASE, allow: ["a*"], deny: ["b"] },
          { place: OVER, allow: ["*c"] },
        ],
      },
    ],
    [
      "keeps the rules it says nothing about",
      "tools: { deny: ['b'] }",
      "lazy: true",
      { rules: [{ place: BASE, deny: ["b"] }] },
    ],
    [
      "keeps them for another connection too",
      "tools: { deny: ['b'] }, trusted: true",
      "url: 'https://example.com'",
      { rules: [{ place: BASE, deny: ["b"] }], trusted: true },
    ],
    [
      "overrides the rest key by key",
      "pins: 'block', framing: 'full'",
      "pins: 'off'",
      { pins: "off", framing: "full" },
    ],
    [
      "replaces a value",
      "approval: { default: 'ask', tools: { a: 'never' } }",
      "approval: 'never'",
      { approval: { default: "never" } },
    ],
    [
      "adds an exception",
      "approval: 'ask'",
      "approval: { tools: { a: 'never' } }",
      { approval: { default: "ask", tools: { a: "never" } } },
    ],
    [
      "changes an exception and leaves the others",
      "rateLimit: { default: 9, tools: { a: 1, b: 2 } }",
      "rateLimit: { tools: { b: 3 } }",
      { rateLimit: { default: 9, tools: { a: 1, b: 3 } } },
    ],
    [
      "changes the default and leaves the exceptions",
      "concurrency: { default: 9, tools: { a: 1 } }",
      "concurrency: { default: 5 }",
      { concurrency: { default: 5, tools: { a: 1 } } },
    ],
    [
      "can switch a limit off",
      "rateLimit: 5",
      "rateLimit: false",
      { rateLimit: { default: false } },
    ],
    ["can bring all of it", "", "approval: { default: 'ask' }", { approval: { default: "ask" } }],
  ])("%s", async (_, base, over, expected) => {
    expect(await merged(base, over)).toEqual(expected);
  });
});

describe("the guard settings of an agent", () => {
  it("are absent where none are configured", async () => {
    const file = await writeConfig("{ agents: { defaults: { tools: { native: [] } } } }");
    const { guard, audit } = await loadConfig(file);
    expect({ guard, audit }).toEqual({ guard: undefined, audit: undefined });
  });

  it("are the rules of both layers; of everything else the agent's counts", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: {
        tools: { deny: ["a/b"], approval: "ask" }, pins: "warn", framing: "full",
        limits: { sessionServers: 1, sessionTools: 2 },
      },
      list: [
        { id: "other", tools: { deny: ["*"] } },
        { id: "it", tools: { allow: ["a/*"], approval: "never" }, pins: "block", limits: { sessionTools: 3 } },
      ],
    } }`);
    expect((await loadConfig(file)).guard).toEqual({
      rules: [{ place: "agents.defaults.tools", deny: ["a/b"] }],
      approval: "ask",
      pins: "warn",
      framing: "full",
      limits: { sessionServers: 1, sessionTools: 2 },
    });
    expect((await loadConfig(file, "it")).guard).toEqual({
      rules: [
        { place: "agents.defaults.tools", deny: ["a/b"] },
        { place: "agents.list[1].tools", allow: ["a/*"] },
      ],
      approval: "never",
      pins: "block",
      framing: "full",
      limits: { sessionServers: 1, sessionTools: 3 },
    });
  });

  it("can be given in code", () => {
    const config = parseAgentConfig({
      servers: {},
      tools: { allow: ["native/*"], ownerOnly: true },
      approval: "destructive",
      pins: "off",
      framing: "compact",
      limits: { sessionServers: 0 },
      audit: { file: "audit.jsonl", arguments: true },
    });
    expect(config.guard).toEqual({
      rules: [{ place: "tools", allow: ["native/*"], ownerOnly: true }],
      approval: "destructive",
      pins: "off",
      framing: "compact",
      limits: { sessionServers: 0 },
    });
    expect(config.audit).toEqual({ file: "audit.jsonl", arguments: true });
  });
});

describe("the audit", () => {
  it.each([
    ["{}", {}],
    ["{ arguments: false }", { arguments: false }],
    ["{ file: '/var/log/x' }", { file: "/var/log/x" }],
    ["{ file: '~/x' }", { file: "/home/me/x" }],
  ])("%s", async (audit, expected) => {
    const file = await writeConfig(`{ audit: ${audit} }`);
    const config = await loadConfig(file, undefined, { homedir: "/home/me" });
    expect(config.audit).toEqual(expected);
  });

  it("has its file relative to the configuration", async () => {
    const file = await writeConfig("{ audit: { file: 'logs/audit.jsonl' } }");
    const { audit } = await loadConfig(file);
    expect(audit?.file).toBe(join(dirname(file), "logs/audit.jsonl"));
  });
});
