import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { failure, messagesOf, writeConfig, writeServers } from "./files.ts";

describe("loading a configuration", () => {
  it("gives a server with every default filled in", async () => {
    const file = await writeServers("{ files: { command: 'npx' } }");
    expect(await loadConfig(file)).toEqual({
      agentId: "default",
      servers: [
        {
          name: "files",
          origin: "defaults",
          enabled: true,
          target: { kind: "stdio", command: "npx", args: [], env: {} },
          timeout: 30_000,
          toolTimeout: 60_000,
          restartOnCrash: true,
          maxRestarts: 5,
          lazy: false,
          idleTimeout: 0,
          protocol: "auto",
          maxMessageBytes: 67_108_864,
        },
      ],
      toolNames: "mcp__{server}__{tool}",
      warnings: [],
      file,
    });
  });

  it("names the modules with native tools, those of the defaults first, beside the file", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { tools: { native: ["./a.mjs", "~/b.mjs"] } },
      list: [{ id: "own", tools: { native: ["/c.mjs", "a.mjs"] } }, { id: "none" }] } }`);
    const here = dirname(file);
    const shared = [
      { written: "./a.mjs", path: join(here, "a.mjs") },
      { written: "~/b.mjs", path: "/home/me/b.mjs" },
    ];
    const modulesOf = async (agent: string) =>
      (await loadConfig(file, agent, { homedir: "/home/me" })).nativeModules;
    expect(await modulesOf("none")).toEqual(shared);
    expect(await modulesOf("own")).toEqual([
      { written: "a.mjs", path: join(here, "a.mjs") },
      shared[1],
      { written: "/c.mjs", path: "/c.mjs" },
    ]);
  });

  it("gives what is configured instead of the defaults", async () => {
    const file = await writeServers(`{ files: {
      enabled: false, transport: "stdio", command: "npx", args: ["-y", "\${PKG}"],
      env: { TOKEN: "\${TOKEN}", EMPTY: "" }, cwd: "data", timeout: 1000, toolTimeout: 2000,
      restartOnCrash: false, maxRestarts: 0, lazy: true, idleTimeout: 3000, protocol: "legacy",
      toolPrefix: "fs", maxMessageBytes: 1024,
    } }`);
    const { servers, warnings } = await loadConfig(file);
    expect(servers).toEqual([
      {
        name: "files",
        origin: "defaults",
        enabled: false,
        target: {
          kind: "stdio",
          command: "npx",
          args: ["-y", "${PKG}"],
          env: { TOKEN: "${TOKEN}", EMPTY: "" },
          cwd: "data",
          baseDir: dirname(file),
        },
        timeout: 1000,
        hasTimeout: true,
        toolTimeout: 2000,
        hasToolTimeout: true,
        restartOnCrash: false,
        maxRestarts: 0,
        lazy: true,
        idleTimeout: 3000,
        protocol: "legacy",
        toolPrefix: "fs",
        maxMessageBytes: 1024,
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["url: 'https://example.com'", "remote"],
    ["url: 'http://127.0.0.1:80/mcp', transport: 'http'", "http"],
    ["url: '${BASE}/mcp', type: 'http'", "http"],
    ["url: 'secret://vault/url', transport: 'streamable-http'", "http"],
    ["url: 'https://example.com', type: 'sse'", "sse"],
    ["url: 'https://example.com', type: 'streamable-http', transport: 'http'", "http"],
    ["url: 'https://example.com', command: 'x', transport: 'sse'", "sse"],
    ["url: 'https://example.com', command: 'x', type: 'stdio'", "stdio"],
    ["command: 'x'", "stdio"],
  ])("tells the transport from { %s }", async (keys, kind) => {
    const { servers } = await loadConfig(await writeServers(`{ a: { ${keys} } }`));
    expect(servers[0]?.target.kind).toBe(kind);
  });

  it("keeps the URL and the headers of a remote server", async () => {
    const { servers } = await loadConfig(
      await writeServers(
        "{ a: { url: 'https://example.com/x', headers: { A: 'Bearer ${KEY}' } } }",
      ),
    );
    expect(servers[0]?.target).toEqual({
      kind: "remote",
      url: "https://example.com/x",
      headers: { A: "Bearer ${KEY}" },
      allowInsecure: false,
      allowPrivate: false,
    });
  });

  it.each([
    ["{ type: 'bearer', token: '${T}' }", { Authorization: "Bearer ${T}" }],
    ["{ type: 'api-key', key: 'k' }", { "X-API-Key": "k" }],
    ["{ type: 'api-key', key: 'k', header: 'X-Mine' }", { "X-Mine": "k" }],
  ])("makes auth %s into a header", async (auth, headers) => {
    const file = await writeServers(`{ a: { url: 'https://example.com', auth: ${auth} } }`);
    expect((await loadConfig(file)).servers[0]?.target).toMatchObject({ headers });
  });

  it("keeps the registry", async () => {
    const file = await writeConfig('{ registry: "https://mcp.example", mcpServers: {} }');
    expect((await loadConfig(file)).registry).toBe("https://mcp.example");
  });

  it("keeps the network settings", async () => {
    const file =
      await writeConfig(`{ network: { allow: ["10.0.0.0/8"] }, agents: { defaults: { mcp: { servers: {
      a: { url: "https://example.com", allowPrivate: true, allowInsecure: true, tls: { ca: "ca.pem" } } } } } } }`);
    const { servers, networkAllow } = await loadConfig(file);
    expect(networkAllow).toEqual(["10.0.0.0/8"]);
    expect(servers[0]?.target).toMatchObject({
      allowPrivate: true,
      allowInsecure: true,
      tls: { ca: "ca.pem" },
      baseDir: dirname(file),
    });
  });

  it("takes workingDir for cwd", async () => {
    const file = await writeServers(
      "{ a: { command: 'x', workingDir: '/a' }, b: { command: 'x', cwd: '~/b', workingDir: '~/b' } }",
    );
    const { servers } = await loadConfig(file);
    expect(servers.map(({ target }) => target)).toMatchObject([{ cwd: "/a" }, { cwd: "~/b" }]);
  });

  it.each(["env", "file", "exec", "gcp", "aws", "vault", "azure", "op", "keyring", "keychain"])(
    "leaves secret://%s/… for the start",
    async (provider) => {
      const reference = `secret://${provider}/a/b#c`;
      const { servers } = await loadConfig(
        await writeServers(`{ a: { command: "x", env: { A: "${reference}" } } }`),
      );
      expect(servers[0]?.target).toMatchObject({ env: { A: reference } });
    },
  );

  it("remembers its directory for a secret in a file, and for nothing else", async () => {
    const file = await writeConfig(`{
      mcpServers: {
        file: { command: "x", env: { A: "x \${secret://file/a}" } },
        token: { url: "https://a.example", auth: { type: "bearer", token: "secret://file/a" } },
        other: { command: "x", env: { A: "secret://gcp/a" } },
      },
      models: { providers: {
        one: { type: "openai", apiKey: "secret://file/a" },
        two: { type: "openai", apiKey: "secret://gcp/a" },
      } },
      secrets: { file: { path: "put/here.json" }, gcp: { project: "p" } },
    }`);
    const { servers, modelProviders, secrets } = await loadConfig(file);
    const baseDir = dirname(file);
    expect(servers.map(({ target }) => target.baseDir)).toEqual([baseDir, baseDir, undefined]);
    expect(modelProviders).toMatchObject({ one: { baseDir } });
    expect(modelProviders?.["two"]).not.toHaveProperty("baseDir");
    expect(secrets).toEqual({
      file: { path: join(baseDir, "put/here.json") },
      gcp: { project: "p" },
    });
  });

  it("knows the providers that the program will give to the board, in servers and models", async () => {
    const text = `{
      mcpServers: { a: { command: "x", env: { A: "secret://mine/a" } } },
      models: { providers: { m: { type: "openai", apiKey: "\${secret://mien/a}" } } },
    }`;
    const file = await writeConfig(text);
    const { message } = await failure(() =>
      loadConfig(file, undefined, { secretProviders: [{ name: "mine" }] }),
    );
    expect(message).toContain("1 problem");
    expect(message).toContain(
      'models.providers.m.apiKey  names the unknown secret provider "mien"; expected env, file, exec, gcp, aws, vault, azure, op, keyring or mine; did you mean "mine"?',
    );
  });

  it.each([
    "a",
    "x".repeat(64),
    "🙂".repeat(64),
    "a b",
    "ü",
    "__proto__",
    "constructor",
    "toString",
  ])("takes the server name %j", async (name) => {
    const { servers } = await loadConfig(await writeServers(`{ "${name}": { command: "x" } }`));
    expect(servers.map((server) => server.name)).toEqual([name]);
    expect(({} as { command?: string }).command).toBeUndefined();
  });

  it("keeps variables with names such as __proto__", async () => {
    const { servers } = await loadConfig(
      await writeServers("{ a: { command: 'x', env: { __proto__: 'a', constructor: 'b' } } }"),
    );
    const [target] = servers.map((server) => server.target);
    expect(target?.kind === "stdio" && Object.entries(target.env)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  it.each(["{}", "{ agents: {} }", "{ agents: { defaults: {} } }", "{ $schema: 'x' }"])(
    "takes %s for no servers",
    async (text) => {
      expect((await loadConfig(await writeConfig(text))).servers).toEqual([]);
    },
  );

  it.each([
    "mcp__{server}__{tool}",
    "mcp_{server}_{tool}",
    "{server}__{tool}",
    "mcp:{server}:{tool}",
    "{tool}-{server}",
  ])("takes the tool names %s", async (template) => {
    const file = await writeConfig(
      `{ agents: { defaults: { mcp: { toolNames: "${template}", startupWait: 0 } } } }`,
    );
    expect(await loadConfig(file)).toMatchObject({ toolNames: template, startupWait: 0 });
  });

  it.each([
    ["sub/dir", (directory: string) => join(directory, "sub/dir")],
    ["/srv/x", () => "/srv/x"],
    ["~/x", () => "/home/me/x"],
    ["~", () => "/home/me"],
  ])("takes the workspace %s", async (workspace, expected) => {
    const file = await writeConfig(`{ agents: { defaults: { workspace: "${workspace}" } } }`);
    const config = await loadConfig(file, undefined, { homedir: "/home/me" });
    expect(config.workspace).toBe(expected(dirname(file)));
  });

  it("takes a relative path from the given directory", async () => {
    const file = await writeConfig("{}");
    const config = await loadConfig("plugboard.json", undefined, { cwd: dirname(file) });
    expect(config.file).toBe(file);
  });

  it("refuses a file that is not there", async () => {
    const error = await failure(() => loadConfig("/no/such/plugboard.json"));
    expect(error.message).toBe(
      "the configuration has 1 problem:\n  /no/such/plugboard.json  there is no such file",
    );
  });
});

describe("models of a file", () => {
  it("are for the agent that names them, with the providers of all", async () => {
    const file = await writeConfig(`{
      agents: {
        defaults: {
          model: "lab/a", systemPrompt: "", maxSteps: 7, modelNotice: 5000, modelTimeout: 600000,
        },
        list: [{ id: "b", model: "lab/b/c", modelTimeout: 60 }],
      },
      models: { providers: { lab: {
        type: "openai-compatible", baseUrl: "http://\${HOST}/v1", apiKey: "\${KEY}", contextWindow: 8192, images: false,
      } } },
    }`);
    const loaded = await loadConfig(file);
    expect(loaded).toMatchObject({
      model: "lab/a",
      systemPrompt: "",
      maxSteps: 7,
      modelNotice: 5000,
      modelTimeout: 600_000,
      warnings: [],
    });
    expect(loaded.modelProviders).toEqual({
      lab: {
        type: "openai-compatible",
        baseUrl: "http://${HOST}/v1",
        apiKey: "${KEY}",
        contextWindow: 8192,
        images: false,
      },
    });
    expect(await loadConfig(file, "b")).toMatchObject({
      model: "lab/b/c",
      maxSteps: 7,
      modelTimeout: 60,
      warnings: [{ path: "agents.list[0].modelTimeout" }],
    });
  });

  it.each([
    ["{ model: 'a/x' }", "{}", ["a/x"]],
    ["{ models: ['a/x', 'a/y'] }", "{}", ["a/x", "a/y"]],
    ["{ model: 'a/z', models: ['a/x', 'a/z', 'a/x'] }", "{}", ["a/z", "a/x"]],
    ["{ model: 'a/z', models: ['a/x'] }", "{ model: 'b/z' }", ["b/z", "a/x"]],
    ["{ model: 'a/z', models: ['a/x'] }", "{ models: ['b/x'] }", ["a/z", "b/x"]],
    ["{ models: [] }", "{}", undefined],
  ])("can be chosen from: %s, then %s", async (defaults, agent, models) => {
    const entry = agent.replace("{", "{ id: 'b', ");
    const file = await writeConfig(`{ agents: { defaults: ${defaults}, list: [${entry}] } }`);
    const loaded = await loadConfig(file, "b");
    expect(loaded.models).toEqual(models);
    expect(loaded.model).toBe(models?.[0]);
    expect(loaded.warnings).toEqual([]);
  });
});

describe("roots in a file", () => {
  it("are relative to it; a server's own and the agent's stand side by side", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { roots: true, servers: {
        a: { command: "a", roots: ["sub", "~/x", "\${HOME}"] },
        b: { command: "b", roots: false },
        c: { command: "c" } } } },
      list: [{ id: "it", mcp: { roots: ["sub"], servers: { a: { roots: true } } } }] } }`);
    const baseDir = dirname(file);
    const defaults = await loadConfig(file);
    expect(defaults).toMatchObject({ roots: true, warnings: [] });
    expect(defaults.servers.map(({ roots }) => roots)).toEqual([
      { directories: ["sub", "~/x", "${HOME}"], baseDir },
      false,
      undefined,
    ]);
    const agent = await loadConfig(file, "it");
    expect(agent.roots).toEqual({ directories: ["sub"], baseDir });
    expect(agent.servers.map(({ roots }) => roots)).toEqual([true, false, undefined]);
  });

  it.each<[string, unknown, string]>([
    ["a word", "yes", "true, false or a list of directories"],
    ["an address", ["https://example.com"], "is not a directory on this machine"],
    ["an empty text", [""], "expected"],
    ["a broken reference", ["${X"], "${"],
  ])("cannot be %s", async (_, roots, expected) => {
    const servers = { a: { command: "a", roots } };
    const file = await writeConfig(
      JSON.stringify({ agents: { defaults: { mcp: { roots, servers } } } }),
    );
    const { code, message } = await failure(() => loadConfig(file));
    expect(code).toBe("CONFIG_INVALID");
    const lines = message.split("\n").filter((line) => line.includes(expected));
    expect(lines).toHaveLength(2);
  });
});

describe("keepAlive in a file", () => {
  it("is a server's own or the agent's, side by side", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { keepAlive: true, servers: {
        a: { command: "a", keepAlive: false },
        b: { command: "b" } } } },
      list: [{ id: "it", mcp: { keepAlive: false, servers: { b: { keepAlive: true } } } }] } }`);
    const defaults = await loadConfig(file);
    expect(defaults).toMatchObject({ keepAlive: true, warnings: [] });
    expect(defaults.servers.map(({ keepAlive }) => keepAlive)).toEqual([false, undefined]);
    const agent = await loadConfig(file, "it");
    expect(agent.keepAlive).toBe(false);
    expect(agent.servers.map(({ keepAlive }) => keepAlive)).toEqual([false, true]);
  });
});

describe("resourceTools in a file", () => {
  it("is the agent's own, else that of the defaults", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { resourceTools: true } },
      list: [{ id: "it", mcp: { resourceTools: false } }] } }`);
    expect(await loadConfig(file)).toMatchObject({ resourceTools: true, warnings: [] });
    expect(await loadConfig(file, "it")).toMatchObject({ resourceTools: false });
  });
});

describe("an unknown agent", () => {
  const two = "{ agents: { list: [{ id: 'research' }, { id: 'review' }] } }";

  it.each([
    [two, "reserch", "did you mean 'research'?"],
    [two, "zzz", "its agents are research, review"],
    ["{}", "x", "it defines no agents"],
  ])("is a mistake of whoever names it, not of the file: %s, %s", async (text, agent, hint) => {
    const file = await writeConfig(text);
    const error = await failure(() => loadConfig(file, agent));
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: `there is no agent '${agent}' in ${file}`,
      hint,
      problems: [{ file, path: "agents.list", message: expect.stringContaining(`"${agent}"`) }],
    });
  });

  it("is one of the mistakes where the file has others", async () => {
    expect(await messagesOf("{ x: 1, agents: { list: [{ id: 'a' }] } }", "b")).toEqual([
      expect.stringContaining("unknown key"),
      'FILE:1:19  agents.list  there is no agent "b"; known agents: "a"',
    ]);
  });

  it("is not reported for an agent that has a mistake", async () => {
    expect(await messagesOf("{ agents: { list: [{ id: 'a', model: 1 }] } }", "a")).toEqual([
      "FILE:1:38  agents.list[0].model  is a number; expected a string",
    ]);
  });
});
