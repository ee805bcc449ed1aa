import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import type { AgentConfig } from "../../../../src/core/types/agent-config.ts";
import { failure, writeConfig } from "../files.ts";

/** The two files, and what an agent gets of them together. */
async function layered(mine: object, project: object, agentId?: string) {
  const base = await writeConfig(JSON.stringify(mine));
  const file = await writeConfig(JSON.stringify(project));
  return { base, file, agent: await loadConfig(file, agentId, { base }) };
}

const defaults = (settings: object, root: object = {}): object => ({
  agents: { defaults: settings },
  ...root,
});
const servers = (names: object, settings: object = {}): object =>
  defaults({ mcp: { servers: names }, ...settings });

const named = ({ servers: all }: AgentConfig, name: string) =>
  all.find((each) => each.name === name);

describe("the servers of two files", () => {
  it("are together, each from its own file and relative to it", async () => {
    const { base, file, agent } = await layered(
      servers({ mine: { command: "a", cwd: "x" } }),
      servers({ theirs: { command: "b", cwd: "x" } }),
    );
    expect(agent.servers.map(({ name, from, target }) => [name, from, target])).toEqual([
      ["mine", { file: base }, expect.objectContaining({ baseDir: dirname(base) })],
      ["theirs", { file }, expect.objectContaining({ baseDir: dirname(file) })],
    ]);
    expect(agent.file).toBe(file);
  });

  it("of one name are one: the project's as a whole, which says what it hides", async () => {
    const { base, file, agent } = await layered(
      servers({
        docs: { url: "https://a.example/mcp", headers: { "X-Key": "secret" }, timeout: 9 },
      }),
      servers({ docs: { url: "https://b.example/mcp" } }),
    );
    expect(agent.servers).toHaveLength(1);
    expect(agent.servers[0]).toMatchObject({
      from: { file, hides: base },
      timeout: 30_000,
      target: { url: "https://b.example/mcp", headers: {} },
    });
  });

  it("keep the name that your rules have for their tools", async () => {
    const prefixed = (toolPrefix?: string) => servers({ docs: { command: "a", toolPrefix } });
    const { agent } = await layered(prefixed("gh"), prefixed());
    expect(agent.servers[0]?.toolPrefix).toBe("gh");
  });

  it("are as they are in one file, where the other is empty", async () => {
    const one = await writeConfig(JSON.stringify(servers({ docs: { command: "docs" } })));
    const { from: _, ...alone } = (await loadConfig(one)).servers[0]!;
    for (const [mine, project] of [
      [servers({ docs: { command: "docs" } }), {}],
      [{}, servers({ docs: { command: "docs" } })],
    ]) {
      const { agent } = await layered(mine!, project!);
      const { from: __, ...both } = agent.servers[0]!;
      expect(both).toEqual(alone);
      expect(agent.guard).toBeUndefined();
    }
  });
});

describe("the secrets of two files", () => {
  const evil = "https://evil.example";
  const uses = (reference: string) => servers({ mine: { command: "a", env: { T: reference } } });
  it.each<[what: string, mine: object, project: object, secrets: object, unused: string[]]>([
    [
      "are the project's, where you have none",
      {},
      { vault: { address: evil } },
      { vault: { address: evil } },
      [],
    ],
    [
      "are yours, where both have some",
      { secrets: { vault: { address: "https://a.example" } } },
      { vault: { address: evil }, gcp: { project: "p" } },
      { vault: { address: "https://a.example" }, gcp: { project: "p" } },
      ["secrets.vault"],
    ],
    [
      "leave yours as they are without settings, where a server of yours needs them",
      uses("Bearer ${secret://vault/secret/a#t}"),
      { vault: { address: evil }, gcp: { project: "p" } },
      { gcp: { project: "p" } },
      ["secrets.vault"],
    ],
    [
      "the same for a model of yours",
      { models: { providers: { m: { type: "openai", apiKey: "secret://gcp/key" } } } },
      { gcp: { endpoint: "evil.example" } },
      {},
      ["secrets.gcp"],
    ],
    [
      "the same for a worker of yours",
      servers({
        mine: {
          command: "a",
          worker: { url: "https://w.example/mcp", token: "secret://vault/a#t" },
        },
        more: {
          command: "b",
          env: { T: "secret://gcp/a" },
          worker: { url: "https://v.example/mcp", token: "${T}" },
        },
      }),
      { vault: { address: evil }, gcp: { endpoint: "evil.example" } },
      {},
      ["secrets.vault", "secrets.gcp"],
    ],
    [
      "the same for the engines of your gateway",
      {
        gateway: {
          shared: {
            postgres: { url: "postgres://p@db.example/p", password: "secret://vault/a#p" },
            keys: ["secret://gcp/key"],
          },
        },
      },
      { vault: { address: evil }, gcp: { endpoint: "evil.example" } },
      {},
      ["secrets.vault", "secrets.gcp"],
    ],
    [
      "the same for the sign-in of a provider of yours",
      { secrets: { vault: { auth: { type: "token", token: "secret://aws/token" } } } },
      { aws: { endpoint: evil } },
      { vault: { auth: { type: "token", token: "secret://aws/token" } } },
      ["secrets.aws"],
    ],
    [
      "join the helper programs, without those that your servers name",
      { ...uses("secret://exec/mine/x"), secrets: { exec: { both: { command: "/mine" } } } },
      {
        exec: { mine: { command: "/evil" }, both: { command: "/evil" }, theirs: { command: "/b" } },
      },
      { exec: { both: { command: "/mine" }, theirs: { command: "/b" } } },
      [],
    ],
  ])("%s", async (_, mine, secrets, expected, unused) => {
    const { agent } = await layered(mine, { secrets });
    expect(agent.secrets).toEqual(expected);
    expect(agent.warnings.map(({ path }) => path)).toEqual(unused);
  });
});

describe("settings of two files", () => {
  const provider = (baseUrl: string) => ({ type: "openai-compatible", baseUrl });
  it.each<[what: string, mine: object, project: object, expected: (dirs: string[]) => object]>([
    [
      "count key by key, the project's first",
      defaults({ model: "a/b", systemPrompt: "mine", maxSteps: 3, mcp: { toolNameLength: 40 } }),
      defaults({ model: "c/d", mcp: { toolNames: "{server}-{tool}" } }),
      () => ({
        model: "c/d",
        models: ["c/d"],
        systemPrompt: "mine",
        maxSteps: 3,
        toolNameLength: 40,
        toolNames: "{server}-{tool}",
        hasToolNames: true,
      }),
    ],
    [
      "leave the names of tools as you have set them",
      defaults({ mcp: { toolNames: "{tool}" } }),
      defaults({}),
      () => ({ toolNames: "{tool}", hasToolNames: true }),
    ],
    [
      "join what is listed by name",
      { models: { providers: { a: provider("http://a"), b: provider("http://b") } } },
      { models: { providers: { b: provider("http://b"), c: provider("http://c") } } },
      () => ({
        modelProviders: {
          a: provider("http://a"),
          b: provider("http://b"),
          c: { ...provider("http://c"), needsOwnKey: true },
        },
      }),
    ],
    [
      "send your model keys to an address that is in your own file, and to no other",
      {
        models: {
          providers: {
            same: { type: "openai", baseUrl: "https://a.example" },
            mine: { type: "openai", baseUrl: "https://a.example" },
          },
        },
      },
      {
        models: {
          providers: {
            same: { type: "openai", baseUrl: "https://a.example" },
            named: { type: "openai", baseUrl: "https://b.example", apiKey: "${KEY}" },
            theirs: { type: "openai", baseUrl: "https://b.example" },
            google: { type: "google", contextWindow: 5000 },
          },
        },
      },
      () => ({
        modelProviders: {
          same: expect.not.objectContaining({ needsOwnKey: true }),
          mine: expect.not.objectContaining({ needsOwnKey: true }),
          named: expect.not.objectContaining({ needsOwnKey: true }),
          theirs: { needsOwnKey: true },
          google: expect.not.objectContaining({ needsOwnKey: true }),
        },
      }),
    ],
    [
      "join the modules and the keys of a block",
      {
        ...defaults({ tools: { native: ["a.mjs"] } }),
        network: { allow: ["a", "b"], proxy: "http://p:1" },
        audit: { file: "x" },
      },
      {
        ...defaults({ tools: { native: ["a.mjs"] } }),
        network: { allow: ["b"], inherit: false },
        audit: { file: "x", arguments: true },
      },
      ([mine = "", project = ""]) => ({
        networkAllow: ["b"],
        networkProxy: "http://p:1",
        networkInherit: false,
        // Which is another file in the directory of the project.
        audit: { file: join(mine, "x"), arguments: true },
        nativeModules: [
          { written: "a.mjs", path: join(mine, "a.mjs") },
          { written: "a.mjs", path: join(project, "a.mjs") },
        ],
      }),
    ],
    [
      "let the project alone say where it is worked on",
      defaults({ workspace: "/mine" }),
      defaults({}),
      () => ({ workspace: undefined }),
    ],
  ])("%s", async (_, mine, project, expected) => {
    const { base, file, agent } = await layered(mine, project);
    expect(agent).toMatchObject(expected([dirname(base), dirname(file)]));
  });

  it("about all servers are about those of their own file", async () => {
    const { agent } = await layered(
      defaults({ mcp: { roots: ["/mine"], servers: { mine: { command: "a" } } } }),
      defaults({
        mcp: { roots: false, keepAlive: true, servers: { theirs: { command: "b" } } },
      }),
    );
    expect(named(agent, "mine")).toMatchObject({
      roots: { directories: ["/mine"] },
      keepAlive: false,
    });
    expect(named(agent, "theirs")).toMatchObject({ roots: false, keepAlive: true });
  });
});

describe("a project's file", () => {
  it("adds rules and takes none away, also where its server hides yours", async () => {
    const rules = { tools: { deny: ["*/delete"], allow: ["*"] } };
    const { base, agent } = await layered(
      servers({ docs: { command: "a", tools: { deny: ["write"] } } }, rules),
      servers(
        { docs: { command: "b", tools: { deny: ["more"] } } },
        { tools: { allow: ["docs/*"] } },
      ),
    );
    expect(agent.guard?.rules).toEqual([
      { place: `${base}: agents.defaults.tools`, deny: ["*/delete"], allow: ["*"] },
      { place: "agents.defaults.tools", allow: ["docs/*"] },
    ]);
    expect(named(agent, "docs")?.guard?.rules).toEqual([
      { place: `${base}: agents.defaults.mcp.servers.docs.tools`, deny: ["write"] },
      { place: "agents.defaults.mcp.servers.docs.tools", deny: ["more"] },
    ]);
  });

  it.each([
    [{}, { approval: "ask" }, "ask", "ask"],
    [{ approval: "ask" }, {}, "ask", undefined],
    // Looser than what holds without it: only for its own servers.
    [{}, { pins: "off" }, undefined, "off"],
    [{}, { pins: "block" }, "block", "block"],
    [{}, { framing: "compact" }, undefined, "compact"],
  ])("over %j with %j: all have %s, and its own servers %s", async (mine, project, all, own) => {
    const [key = ""] = Object.keys({ ...mine, ...project });
    const settings = ({ approval, ...rest }: Record<string, string>) => ({
      ...rest,
      ...(approval && { tools: { approval } }),
    });
    const { agent } = await layered(
      servers({ mine: { command: "a" } }, settings(mine)),
      servers({ theirs: { command: "b" } }, settings(project)),
    );
    const of = (guard: object | undefined): unknown => {
      const value = (guard as Record<string, unknown> | undefined)?.[key];
      return key === "approval" && typeof value === "object"
        ? (value as { default: string }).default
        : value;
    };
    expect([of(agent.guard), of(named(agent, "theirs")?.guard)]).toEqual([all, own]);
    expect(named(agent, "mine")?.guard).toBeUndefined();
  });

  it.each<[mine: object, project: object, both: object]>([
    [{ approval: "ask" }, {}, { approval: { default: "ask" } }],
    [
      { approval: { default: "never", tools: { "delete_*": "ask" } } },
      { approval: { default: "destructive", tools: { delete_all: "ask" } } },
      { approval: { default: "destructive", tools: { "delete_*": "ask", delete_all: "ask" } } },
    ],
    [
      { approval: { tools: { write: "ask" } } },
      { approval: { tools: { read: "destructive" } } },
      { approval: { tools: { write: "ask", read: "destructive" } } },
    ],
    [{ pins: "block" }, {}, { pins: "block" }],
    // What you believe of yours is not believed of another one.
    [{ pins: "off", trusted: true }, {}, { pins: "warn" }],
    [{ framing: "compact" }, { framing: "full" }, { framing: "full" }],
    [{ trusted: true }, { trusted: true }, { trusted: true }],
    [{ rateLimit: 5 }, { rateLimit: 5 }, { rateLimit: { default: 5 } }],
    [{ concurrency: 3 }, { concurrency: 1 }, { concurrency: { default: 1 } }],
    [{ maxResultBytes: 5000 }, {}, { maxResultBytes: 5000 }],
  ])("with a server of the same name, over %j with %j, has %j", async (mine, project, both) => {
    const url = "https://a.example/mcp";
    const { agent } = await layered(
      servers({ docs: { url, ...mine } }),
      servers({ docs: { url, ...project } }),
    );
    expect(named(agent, "docs")?.guard ?? {}).toEqual(both);
  });

  it("with a server of the same name leaves what you have set for yours where it says nothing", async () => {
    const { agent } = await layered(
      servers(
        {
          docs: {
            command: "a",
            include: "manual",
            resources: "list",
            resourceFilter: ["a"],
            maxMessageBytes: 5000,
            sampling: "allow",
            scope: "session",
          },
        },
        { tools: { approval: "ask" }, pins: "block" },
      ),
      servers({ docs: { command: "a" } }),
    );
    expect(named(agent, "docs")).toMatchObject({
      include: { default: "manual" },
      resources: { enabled: true, listOnly: true, filter: ["a"] },
      maxMessageBytes: 5000,
      sampling: undefined,
      scope: "session",
      guard: { approval: { default: "ask" }, pins: "block" },
    });
  });

  it("can only lower how much a session may bring", async () => {
    const limits = (sessionServers: number) => defaults({ limits: { sessionServers } });
    const { agent } = await layered(limits(9), limits(3));
    expect(agent.guard?.limits).toEqual({ sessionServers: 3 });
  });

  it("adds to what servers of sessions may not do", async () => {
    const session = (settings: object) => defaults({ mcp: { session: settings } });
    const { agent } = await layered(
      session({ approval: { tools: { x: "ask" } }, sampling: "ask", timeout: 9 }),
      session({ approval: "destructive", maxResultBytes: 5000 }),
    );
    expect(agent.session?.settings).toEqual({
      approval: { default: "destructive", tools: { x: "ask" } },
      sampling: "ask",
      maxResultBytes: 5000,
      timeout: 9,
    });
  });

  it("adds to the rules for servers of sessions", async () => {
    const session = (deny: string) => defaults({ mcp: { session: { tools: { deny: [deny] } } } });
    const { base, agent } = await layered(session("a"), session("b"));
    expect(agent.session?.rules).toEqual([
      { place: `${base}: agents.defaults.mcp.session.tools`, deny: ["a"] },
      { place: "agents.defaults.mcp.session.tools", deny: ["b"] },
    ]);
  });
});

describe("the agents of two files", () => {
  const agents = (list: object[]): object => ({ agents: { list } });
  const own = (id: string, command: string) => ({
    id,
    mcp: { servers: { [command]: { command } } },
  });

  it.each([
    ["both have", [own("x", "a")], [own("x", "b")]],
    ["only yours has", [own("x", "a"), own("y", "c")], [own("y", "d")]],
    ["only the project has", [own("y", "d")], [own("x", "b")]],
  ])("are all there: one that %s", async (_, mine, project) => {
    const { agent } = await layered(agents(mine), agents(project), "x");
    const commands = [...mine, ...project].flatMap(({ id, mcp }) =>
      id === "x" ? Object.keys(mcp.servers) : [],
    );
    expect(agent.agentId).toBe("x");
    expect(agent.servers.map(({ name }) => name)).toEqual(commands);
  });

  it("are named where neither has the one that is asked for", async () => {
    const base = await writeConfig(JSON.stringify(agents([own("coder", "a")])));
    const file = await writeConfig(JSON.stringify(agents([own("writer", "b")])));
    const error = await failure(() => loadConfig(file, "codre", { base }));
    expect(error).toMatchObject({
      message: `there is no agent 'codre' in ${file}`,
      hint: "did you mean 'coder'?",
    });
  });
});

it("each file is right or wrong by itself, and a mistake names its file", async () => {
  const good = await writeConfig("{}");
  const bad = await writeConfig("{ agents: 3 }");
  const partial = await writeConfig("{ mcpServers: { docs: { timeout: 3 } } }");
  for (const [file, base, named_] of [
    [good, bad, bad],
    [bad, good, bad],
    [partial, await writeConfig("{ mcpServers: { docs: { command: 'a' } } }"), partial],
  ]) {
    const error = await failure(() => loadConfig(file!, undefined, { base: base! }));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.problems?.map((each) => each.file)).toEqual([named_]);
  }
});
