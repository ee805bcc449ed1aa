import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { failure, messagesOf, writeConfig } from "../files.ts";

describe("a wrong file", () => {
  it.each([
    ["[]", "FILE:1:1  is a list; expected an object"],
    ["{ a: }", 'FILE:1:6  unexpected "}"'],
    ["{ agent: {} }", 'FILE:1:3  agent  unknown key; did you mean "agents"?'],
    [
      "{ foo: 1 }",
      "FILE:1:3  foo  unknown key; expected mcpServers, servers, agents, gateway, secrets, network, acp, registry, audit or models",
    ],
    [
      "{ registry: 'http://mcp.example' }",
      "FILE:1:13  registry  is not an https URL; expected one, or http on this machine",
    ],
    [
      "{ context_servers: {} }",
      "FILE:1:3  context_servers  unknown key; servers belong in mcpServers, or in agents.defaults.mcp.servers",
    ],
    [
      "{ approval: 'destructive' }",
      "FILE:1:3  approval  unknown key; it belongs in agents.defaults.tools.approval",
    ],
    ["{ pins: 'block' }", "FILE:1:3  pins  unknown key; it belongs in agents.defaults.pins"],
    ["{ agents: [] }", "FILE:1:11  agents  is a list; expected an object"],
    ["{ agents: { defaults: 1 } }", "FILE:1:23  agents.defaults  is a number; expected an object"],
    ["{ agents: { list: {} } }", "FILE:1:19  agents.list  is an object; expected a list"],
    ["{ agents: { list: [1] } }", "FILE:1:20  agents.list[0]  is a number; expected an object"],
    ["{ agents: { list: [{}] } }", "FILE:1:20  agents.list[0].id  is missing; expected a string"],
    [
      "{ agents: { list: [{ id: 'default' }] } }",
      "FILE:1:26  agents.list[0].id  is the name of the agent that every file has, made of agents.defaults; expected another one",
    ],
    [
      "{ agents: { list: [{ id: 'a' }, { id: 'a' }] } }",
      "FILE:1:39  agents.list[1].id  is the id of another agent too",
    ],
    [
      "{ agents: { defaults: { servers: {} } } }",
      "FILE:1:25  agents.defaults.servers  unknown key; it belongs in mcp.servers",
    ],
    [
      "{ agents: { defaults: { mcp: { servers: [] } } } }",
      "FILE:1:41  agents.defaults.mcp.servers  is a list; expected an object",
    ],
    [
      "{ agents: { defaults: { mcp: { startupWait: '2s' } } } }",
      "FILE:1:45  agents.defaults.mcp.startupWait  is a string; expected a whole number of milliseconds from 0 to 86400000",
    ],
    [
      "{ agents: { defaults: { mcp: { toolSearch: 'yes' } } } }",
      'FILE:1:44  agents.defaults.mcp.toolSearch  is "yes"; expected one of auto, on, index, off',
    ],
    [
      "{ agents: { defaults: { mcp: { toolSearch: 1 } } } }",
      "FILE:1:44  agents.defaults.mcp.toolSearch  is a number; expected auto, on, index, off",
    ],
    [
      "{ agents: { defaults: { mcp: { session: { command: 'x' } } } } }",
      "FILE:1:43  agents.defaults.mcp.session.command  unknown key",
    ],
    [
      "{ agents: { defaults: { tools: { approval: 'no' } } } }",
      'FILE:1:44  agents.defaults.tools.approval  is "no"; expected one of never, ask, destructive',
    ],
    [
      "{ agents: { defaults: { limits: { sessionTools: 0.5 } } } }",
      "FILE:1:49  agents.defaults.limits.sessionTools  is 0.5; expected a whole number from 0 to 10000",
    ],
    [
      "{ gateway: { port: 65536 } }",
      "FILE:1:20  gateway.port  is 65536; expected a whole number from 0 to 65535",
    ],
    ["{ secrets: { gpc: {} } }", 'FILE:1:14  secrets.gpc  unknown key; did you mean "gcp"?'],
    [
      "{ models: { providers: { x: 1 } } }",
      `FILE:1:29  models.providers.x  is a number; expected an object such as { type: "openai-compatible", baseUrl }`,
    ],
    ["{ agents: {}, agents: {} }", "FILE:1:15  agents  duplicate key; the first one is at 1:3"],
  ])("%s", async (text, message) => {
    expect(await messagesOf(text)).toEqual([message]);
  });

  it.each([
    ["{tool}{tool}", "has no {server}; expected {server} and {tool} once each, or {tool} alone"],
    ["{server}", "has no {tool}; expected {server} and {tool} once each, or {tool} alone"],
    [
      "{server}{server}{tool}",
      "has {server} more than once; expected {server} and {tool} once each, or {tool} alone",
    ],
    [
      "{server}{tool}{agent}",
      "has other braces than {server} and {tool}; expected those two once each",
    ],
    ["{{server}{tool}", "has other braces than {server} and {tool}; expected those two once each"],
    [
      "{server}.{tool}",
      "has a character that tool names cannot have; expected only A-Z a-z 0-9 _ - : around {server} and {tool}",
    ],
  ])("with the tool names %s", async (template, message) => {
    expect(
      await messagesOf(`{ agents: { defaults: { mcp: { toolNames: "${template}" } } } }`),
    ).toEqual([`FILE:1:43  agents.defaults.mcp.toolNames  ${message}`]);
  });
});

describe("a wrong override", () => {
  const file = (override: string) => `{
  agents: {
    defaults: { mcp: { servers: { docs: { command: "run" }, web: { url: "https://example.com" } } } },
    list: [
      { id: "a", mcp: { servers: { ${override} } } },
    ],
  },
}`;

  it.each([
    [
      "dosc: { enabled: false }",
      '5:36  agents.list[0].mcp.servers.dosc  has neither "command" nor "url", and the defaults have no server of this name to complete it; did you mean "docs"?',
    ],
    [
      "docs: { transport: 'http' }",
      '5:36  agents.list[0].mcp.servers.docs  has the transport http and no "url"; expected one',
    ],
    [
      "web: { transport: 'stdio' }",
      '5:36  agents.list[0].mcp.servers.web  has the transport stdio and no "command"; expected one',
    ],
    [
      "docs: { command: 'x', url: 'https://example.com' }",
      '5:36  agents.list[0].mcp.servers.docs  has both "command" and "url"; expected one of them, or a "transport"',
    ],
    [
      "own: { command: 'x', url: 'https://example.com' }",
      '5:36  agents.list[0].mcp.servers.own  has both "command" and "url"; expected one of them, or a "transport"',
    ],
    [
      "docs: { lazy: 1 }",
      "5:50  agents.list[0].mcp.servers.docs.lazy  is a number; expected true or false",
    ],
  ])("%s is found whichever agent is asked for", async (override, message) => {
    expect(await messagesOf(file(override))).toEqual([`FILE:${message}`]);
    expect(await messagesOf(file(override), "a")).toEqual([`FILE:${message}`]);
  });

  it("of a server that is wrong itself is not checked", async () => {
    const text = `{ agents: {
      defaults: { mcp: { servers: { a: { lazy: 1 }, b: {} } } },
      list: [{ id: "x", mcp: { servers: { a: { enabled: false }, b: { enabled: false } } } }],
    } }`;
    expect(await messagesOf(text)).toEqual([
      "FILE:2:48  agents.defaults.mcp.servers.a.lazy  is a number; expected true or false",
      'FILE:2:53  agents.defaults.mcp.servers.b  has neither "command" nor "url"; expected one of them',
    ]);
  });
});

describe("everything that is wrong", () => {
  it("is listed at once, in the order of the file", async () => {
    const text = `{
  agents: {
    list: [{ id: "a", mcp: { servers: { own: { comand: "x" } } } }, 7],
    defaults: {
      modle: "x",
      maxSteps: 0,
      mcp: { servers: { one: { timeout: 1.5, tiemout: 1 }, two: {}, "a/b": {} } },
    },
  },
  mcpServers: {},
  gateway: [],
}`;
    expect(await messagesOf(text)).toEqual([
      'FILE:3:48  agents.list[0].mcp.servers.own.comand  unknown key; did you mean "command"?',
      "FILE:3:69  agents.list[1]  is a number; expected an object",
      'FILE:5:7  agents.defaults.modle  unknown key; did you mean "model"?',
      "FILE:6:17  agents.defaults.maxSteps  is 0; expected a whole number from 1 to 10000",
      "FILE:7:41  agents.defaults.mcp.servers.one.timeout  is 1.5; expected a whole number of milliseconds from 1 to 86400000",
      'FILE:7:46  agents.defaults.mcp.servers.one.tiemout  unknown key; did you mean "timeout"?',
      'FILE:7:60  agents.defaults.mcp.servers.two  has neither "command" nor "url"; expected one of them',
      'FILE:7:69  agents.defaults.mcp.servers["a/b"]  has a "/" in its name; expected one without',
      "FILE:10:3  mcpServers  means the same as agents.defaults.mcp.servers; expected only one of them",
      "FILE:11:12  gateway  is a list; expected an object",
    ]);
  });

  it("is on the error as values too", async () => {
    const file = await writeConfig("{\n  agent: {},\n}");
    const error = await failure(() => loadConfig(file));
    expect(error.message).toBe(
      `the configuration has 1 problem:\n  ${file}:2:3  agent  unknown key; did you mean "agents"?`,
    );
    expect(error.permanent).toBe(true);
    expect(error.problems).toEqual([
      { file, line: 2, column: 3, path: "agent", message: "unknown key", suggestion: "agents" },
    ]);
  });

  it("is shortened in the message, not in the values", async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `x${index}: 1`).join(",\n");
    const error = await failure(async () => loadConfig(await writeConfig(`{ ${keys} }`)));
    expect(error.problems).toHaveLength(120);
    const lines = error.message.split("\n");
    expect(lines).toHaveLength(52);
    expect(lines[0]).toBe("the configuration has 120 problems:");
    expect(lines.at(-1)).toBe("  … and 70 more");
  });

  it("never quotes a value that may be secret", async () => {
    const keys = [
      "command: 'run'",
      "url: 5",
      "env: { A: 'hunter2${', B: ['hunter2'], C: 'secret://hunter2' }",
      "headers: 'hunter2'",
      "oauth: 'hunter2'",
      "auth: 'hunter2'",
    ].join(", ");
    const text = `{ agents: { defaults: { mcp: { servers: { docs: { ${keys} } } } } } }`;
    expect(await messagesOf(text)).toHaveLength(8);
    expect((await messagesOf(text)).join("\n")).not.toContain("hunter2");
  });
});

describe("a message", () => {
  it("shows nothing invisible and nothing endless", async () => {
    const name = `a\\u001b[31m\\u202e${"x".repeat(100)}`;
    const [line = ""] = await messagesOf(`{ "${name}": 1, agents: { list: [{ id: "${name}" }] } }`);
    expect(line).toBe(
      `FILE:1:3  ["a\\u{1b}[31m\\u{202e}${"x".repeat(57)}…"]  unknown key; expected mcpServers, servers, agents, gateway, secrets, network, acp, registry, audit or models`,
    );
  });
});

describe("the models of a file", () => {
  const provider = (text: string): string => `{ models: { providers: { x: ${text} } } }`;
  const X = "models.providers.x";

  it.each([
    [
      "{ agents: { defaults: { model: 'gpt' } } }",
      "FILE:1:32  agents.defaults.model  does not name a model; expected provider/model, as in anthropic/claude-sonnet-5",
    ],
    [
      "{ agents: { defaults: { models: ['a/x', 'gpt'] } } }",
      "FILE:1:41  agents.defaults.models[1]  does not name a model; expected provider/model, as in anthropic/claude-sonnet-5",
    ],
    [
      provider("1"),
      `FILE:1:29  ${X}  is a number; expected an object such as { type: "openai-compatible", baseUrl }`,
    ],
    [
      provider("{}"),
      `FILE:1:26  ${X}.type  is missing; expected one of anthropic, openai, google, openai-compatible`,
    ],
    [
      provider("{ type: 'openai-compatible' }"),
      `FILE:1:26  ${X}.baseUrl  is missing; expected a string`,
    ],
    [
      provider("{ type: 'openai', baseUrl: 'localhost' }"),
      `FILE:1:56  ${X}.baseUrl  is not a URL; expected one such as https://example.com/mcp`,
    ],
    [
      provider("{ type: 'openai', contextWindow: 5 }"),
      `FILE:1:62  ${X}.contextWindow  is 5; expected a whole number of tokens from 1000 to 100000000`,
    ],
    [
      provider("{ type: 'openai', baseURL: 'x' }"),
      `FILE:1:47  ${X}.baseURL  unknown key; did you mean "baseUrl"?`,
    ],
    [
      "{ models: { providers: { 'a/b': { type: 'openai' } } } }",
      'FILE:1:26  models.providers["a/b"]  has a "/" in its name; expected one without',
    ],
  ])("are checked: %s", async (text, message) => {
    expect(await messagesOf(text)).toEqual([message]);
  });
});

describe("toolSearch", () => {
  it.each([
    ["", "", undefined],
    ["toolSearch: 'auto'", "", "auto"],
    ["toolSearch: 'index'", "", "index"],
    ["toolSearch: true", "", "on"],
    ["toolSearch: true", "toolSearch: false", "off"],
  ])("of the defaults %j and an agent %j", async (base, over, expected) => {
    const file = await writeConfig(
      `{ agents: { defaults: { mcp: { ${base} } }, list: [{ id: "a", mcp: { ${over} } }] } }`,
    );
    expect((await loadConfig(file, "a")).toolSearch).toBe(expected);
  });
});
