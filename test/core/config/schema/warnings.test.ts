import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import { formatProblem } from "../../../../src/core/config/issue.ts";
import { writeConfig } from "../files.ts";

async function warningsOf(text: string, agentId?: string): Promise<string[]> {
  const file = await writeConfig(text);
  const { warnings } = await loadConfig(file, agentId);
  return warnings.map((warning) => formatProblem(warning).replace(file, "FILE"));
}

/** The keys of the server `x` start at column 48. */
function server(keys: string): Promise<string[]> {
  return warningsOf(`{ agents: { defaults: { mcp: { servers: { x: { ${keys} } } } } } }`);
}

const X = "agents.defaults.mcp.servers.x";

describe("include", () => {
  it.each([
    "include: 'always'",
    "include: 'agent'",
    "include: 'manual'",
    "include: {}",
    "include: { default: 'manual', tools: { agent: 'always' } }",
  ])("does not warn: %s", async (keys) => {
    expect(await server(`command: 'x', ${keys}`)).toEqual([]);
  });
});

describe("a secret in the arguments", () => {
  const message =
    'puts a secret where every user of this machine can read it, in the list of processes; put it in "env" if the server can take it from there';

  it.each([
    ["secret://gcp/x", true],
    ["--token=${secret://gcp/x}", true],
    ["op://a/b/c", true],
    ["${TOKEN}", false],
    ["$${secret", false],
  ])("%s: %s", async (arg, warns) => {
    const expected = warns ? [`FILE:1:76  ${X}.args[1]  ${message}`] : [];
    expect(await server(`command: 'xy', args: [ '-', '${arg}' ], env: { A: '${arg}' }`)).toEqual(
      expected,
    );
  });
});

describe("a credential that is written out", () => {
  const WARNING =
    "MCP server 'x' has plaintext credentials in config — consider using secret:// references";
  const GITHUB = `ghp_${"Ab3".repeat(12)}`;

  it.each([
    ["by its key", "env", `command: 'x', env: { A: 'b', DB_PASSWORD: 'hunter2' }`, ".DB_PASSWORD"],
    ["by its form", "env", `command: 'x', env: { GH: '${GITHUB}' }`, ".GH"],
    ["by its form", "args", `command: 'x', args: [ '${GITHUB}' ]`, "[0]"],
    ["by its option", "args", `command: 'x', args: [ '--api-key', 'k3y-of-mine' ]`, "[1]"],
    ["in a URL", "url", `url: 'https://example.com/?api_key=k3y-of-mine'`, ""],
    [
      "in a header",
      "headers",
      `url: 'https://a.example', headers: { Authorization: 'Bearer abc' }`,
      ".Authorization",
    ],
    [
      "as a token",
      "auth",
      `url: 'https://a.example', auth: { type: 'bearer', token: 'abc' }`,
      ".token",
    ],
    [
      "of a client",
      "oauth",
      `url: 'https://a.example', oauth: { clientId: 'x', clientSecret: 's' }`,
      ".clientSecret",
    ],
    ["beside a variable", "env", `command: 'x', env: { DB: 'a://u:hunter2@\${HOST}/b' }`, ".DB"],
    [
      "more than once",
      "env",
      `command: 'x', env: { A_TOKEN: 'one', B_TOKEN: 'two' }, args: [ '--token=three' ]`,
      ".A_TOKEN",
    ],
  ])("draws one warning %s: %s", async (_, block, keys, place) => {
    const [warning, ...others] = await server(keys);
    // Values in `args` come before those in `env`, whatever the order in the file.
    const found = keys.includes("three") ? "args[0]" : `${block}${place}`;
    expect(warning).toMatch(/^FILE:1:\d+ {2}/);
    expect(warning?.replace(/^\S+ {2}/, "")).toBe(`${X}.${found}  ${WARNING}`);
    expect(others).toEqual([]);
  });

  it.each([
    "command: 'x', env: { A_TOKEN: '${TOKEN}', B_TOKEN: 'secret://env/TOKEN', C_TOKEN: 'op://a/b/c' }",
    "command: 'x', env: { DB: 'postgres://u:${secret://env/PW}@db/x', API_KEY: 'k-${KEY}' }",
    "url: 'https://a.example', headers: { Authorization: 'Bearer ${secret://env/T}', Cookie: 'a=${C}' }",
    "url: 'https://a.example', auth: { type: 'bearer', token: '${T:-}' }, oauth: { clientSecret: '${S}' }",
    "command: 'x', env: { TOKEN_FILE: '/run/token', MAX_TOKENS: '100', AUTH: 'oauth2', NAME: 'sk-learn' }",
  ])("draws none: %s", async (keys) => {
    expect(await server(keys)).toEqual([]);
  });

  it("counts once for a server that an agent changes", async () => {
    const of = (token: string): object => ({ x: { command: "x", env: { TOKEN: token } } });
    const config = {
      agents: {
        defaults: { mcp: { servers: of("one") } },
        list: [{ id: "a", mcp: { servers: of("two") } }],
      },
    };
    expect(await warningsOf(JSON.stringify(config), "a")).toHaveLength(1);
  });

  it("is not looked for in code, where a value may come from anywhere", () => {
    const servers = { x: { command: "x", env: { TOKEN: "one" } } };
    expect(parseAgentConfig({ servers }).warnings).toEqual([]);
  });
});

describe("scope", () => {
  it.each(["scope: 'shared'", "scope: 'session'"])("does not warn: %s", async (keys) => {
    expect(await server(`command: 'x', ${keys}`)).toEqual([]);
  });
});

describe("the guard settings", () => {
  it.each([
    "tools: { allow: ['a'], deny: ['b'], ownerOnly: ['c'] }",
    "sampling: 'ask'",
    "approval: 'ask'",
    "approval: { default: 'ask', tools: { a: 'never' } }",
    "pins: 'block'",
    "trusted: true",
    "framing: 'full'",
    "rateLimit: 100",
    "rateLimit: { tools: { a: 5, b: false } }",
    "concurrency: { default: 4 }",
    "maxResultBytes: 100000",
  ])("of a server do not warn: %s", async (keys) => {
    expect(await server(`command: 'x', ${keys}`)).toEqual([]);
  });

  it.each([
    "agents: { defaults: { tools: { deny: ['a/b'], approval: 'ask' } } }",
    "agents: { defaults: { framing: 'full', pins: 'block' } }",
    "agents: { defaults: { limits: { sessionServers: 10, sessionTools: 100 } } }",
    "audit: { file: 'x', arguments: false }",
  ])("of the rest of the file do not warn: %s", async (keys) => {
    expect(await warningsOf(`{ ${keys} }`)).toEqual([]);
  });
});

describe("npx", () => {
  it.each<[command: string, args: string[], warns: boolean]>([
    ["npx", ["some-server"], true],
    ["npx", ["some-server", "-y"], true],
    ["/usr/bin/npx", ["some-server"], true],
    ["npx.cmd", ["some-server"], true],
    ["npx", ["-p", "some-package", "some-server"], true],
    ["npx", ["-y", "some-server"], false],
    ["npx", ["--yes", "some-server"], false],
    ["npx", ["-p", "some-package", "-y", "some-server"], false],
    ["npx", ["--no-install", "some-server"], false],
    ["npx", [], false],
    ["my-npx", ["some-server"], false],
    ["uvx", ["some-server"], false],
  ])("%s %j warns that it may ask: %s", (command, args, warns) => {
    const { warnings } = parseAgentConfig({ servers: { it: { command, args } } });
    const message = 'lets npx ask before it installs, which nobody can answer; put "-y" first';
    expect(warnings).toEqual(warns ? [{ path: "servers.it.args", message }] : []);
  });
});

describe("a remote server", () => {
  it("is accepted with everything it takes to connect to it and to sign in", async () => {
    const keys = `url: "https://example.com", headers: { A: "b" }, auth: { type: "api-key", key: "\${KEY}", header: "X-Key" },
      oauth: { clientId: "x" }, tls: { ca: "a", cert: "b", key: "c" }, allowInsecure: true, allowPrivate: true`;
    expect(await server(keys)).toEqual([]);
  });

  it("warns about keys that only a command needs", async () => {
    const keys = "url: 'https://example.com', args: [], env: {}, workingDir: '/x'";
    expect(await server(keys)).toEqual([
      `FILE:1:76  ${X}.args  has no effect on a remote server`,
      `FILE:1:86  ${X}.env  has no effect on a remote server`,
      `FILE:1:95  ${X}.workingDir  has no effect on a remote server`,
    ]);
  });
});

describe("a stdio server", () => {
  it("warns about keys that only a URL needs", async () => {
    const keys = "transport: 'stdio', command: 'x', url: 'https://example.com', headers: {}";
    expect(await server(keys)).toEqual([
      `FILE:1:82  ${X}.url  has no effect on a stdio server`,
      `FILE:1:110  ${X}.headers  has no effect on a stdio server`,
    ]);
  });

  it("warns about them in an override too", async () => {
    const text = `{ agents: {
      defaults: { mcp: { servers: { x: { command: "x" } } } },
      list: [{ id: "a", mcp: { servers: { x: { headers: { A: "b" } } } } }] } }`;
    expect(await warningsOf(text)).toEqual([]);
    expect(await warningsOf(text, "a")).toEqual([
      "FILE:3:48  agents.list[0].mcp.servers.x.headers  has no effect on a stdio server",
    ]);
  });
});

describe("keepAlive", () => {
  it.each([
    ["keepAlive: true, scope: 'session'", ['has no effect with scope "session"']],
    ["keepAlive: true", []],
    ["keepAlive: false, scope: 'session'", []],
  ])("with %s", async (keys, messages) => {
    expect(await server(`command: 'x', ${keys}`)).toEqual(
      messages.map((message) => `FILE:1:62  ${X}.keepAlive  ${message}`),
    );
  });
});

describe("milliseconds that look like seconds", () => {
  it.each([
    ["timeout: 30", "timeout", 30],
    ["toolTimeout: 99", "toolTimeout", 99],
    ["idleTimeout: 1", "idleTimeout", 1],
    ["resourceRefreshMs: 60", "resourceRefreshMs", 60],
  ])("warn: %s", async (keys, key, value) => {
    expect(await server(`command: 'x', ${keys}`)).toEqual([
      `FILE:1:62  ${X}.${key}  is ${value} milliseconds; did you mean ${value}000?`,
    ]);
  });

  it.each(["timeout: 100", "toolTimeout: 60000", "idleTimeout: 0"])(
    "do not warn where they are plausible: %s",
    async (keys) => {
      expect(await server(`command: 'x', ${keys}`)).toEqual([]);
    },
  );
});

describe("settings without a feature", () => {
  it.each([["startupWait: 2", "startupWait", "is 2 milliseconds; did you mean 2000?"]])(
    "of mcp warn: %s",
    async (keys, key, message) => {
      expect(await warningsOf(`{ agents: { defaults: { mcp: { ${keys} } } } }`)).toEqual([
        `FILE:1:32  agents.defaults.mcp.${key}  ${message}`,
      ]);
    },
  );

  it.each([
    ["timeout: 30", "is 30 milliseconds; did you mean 30000?"],
    ["scope: 'shared'", "has no effect on the servers of a session"],
    ["pins: 'warn'", "has no effect on the servers of a session"],
    ["keepAlive: true", "has no effect on the servers of a session"],
  ])("of session servers warn: %s", async (keys, message) => {
    const [key = ""] = keys.split(":");
    const text = `{ agents: { defaults: { mcp: { session: { ${keys} } } } } }`;
    const path = `agents.defaults.mcp.session.${key}`;
    expect(await warningsOf(text)).toEqual([`FILE:1:43  ${path}  ${message}`]);
  });

  it("include a timeout of the gateway that looks like seconds", async () => {
    expect(
      await warningsOf("{ gateway: { sessionTimeout: 5, idleTimeout: 30, approvalWait: 60 } }"),
    ).toEqual([
      "FILE:1:14  gateway.sessionTimeout  is 5 milliseconds; did you mean 5000?",
      "FILE:1:33  gateway.idleTimeout  is 30 milliseconds; did you mean 30000?",
      "FILE:1:50  gateway.approvalWait  is 60 milliseconds; did you mean 60000?",
    ]);
  });

  it("do not include those of the network", async () => {
    const text = "{ network: { allow: ['example.com'], proxy: 'http://127.0.0.1:1' } }";
    expect(await warningsOf(text)).toEqual([]);
  });

  it("of other agents do not warn", async () => {
    const text = `{ agents: {
      defaults: { mcp: { startupWait: 2 } },
      list: [{ id: "a", mcp: { startupWait: 3 } }, { id: "b", mcp: { startupWait: 4 } }] } }`;
    expect(await warningsOf(text, "b")).toEqual([
      "FILE:2:26  agents.defaults.mcp.startupWait  is 2 milliseconds; did you mean 2000?",
      "FILE:3:70  agents.list[1].mcp.startupWait  is 4 milliseconds; did you mean 4000?",
    ]);
  });

  it("include an id of the defaults", async () => {
    expect(await warningsOf("{ agents: { defaults: { id: 'x' } } }")).toEqual([
      "FILE:1:25  agents.defaults.id  has no effect in the defaults",
    ]);
  });
});
