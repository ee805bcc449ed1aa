import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import {
  judgeTrust,
  type Launch,
  readLaunches,
  type Trust,
  waitingServers,
} from "../../../../src/core/config/trust/trust.ts";
import { failure, writeConfig } from "../files.ts";

interface Parts {
  servers?: object;
  defaults?: object;
  list?: object[];
  root?: object;
}

const DOCS = { command: "npx", args: ["-y", "docs"], env: { KEY: "${KEY}" } };
const SITE = { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${TOKEN}" } };

const TWO = { servers: { docs: DOCS, site: SITE } };

/** The same, with an agent that has settings of its own. */
const research = (settings: object): Parts => ({ ...TWO, list: [{ id: "research", ...settings }] });

/** An update would take its place, so who publishes it is approved with it. */
const from = (more: object = {}): object => ({
  ...DOCS,
  provenance: {
    kind: "registry",
    registry: "https://registry.example",
    name: "io.github.owner/docs",
    version: "1.0.0",
    hash: `sha256-${"0".repeat(64)}`,
    way: "npm",
    ...more,
  },
});
const FROM_REGISTRY = from();

function text({ servers = {}, defaults = {}, list = [], root = {} }: Parts): string {
  return JSON.stringify({ agents: { defaults: { mcp: { servers }, ...defaults }, list }, ...root });
}

async function launchesOf(parts: Parts): Promise<Launch[]> {
  const file = await writeConfig(text(parts));
  await loadConfig(file);
  return (await readLaunches(file)).all;
}

/** How the second configuration looks to somebody who approved the first. */
async function change(before: Parts, after: Parts): Promise<Trust> {
  const approved = new Map((await launchesOf(before)).map(({ label, hash }) => [label, hash]));
  return judgeTrust(approved, await launchesOf(after));
}

const changed = (what: Partial<Extract<Trust, { kind: "changed" }>>): Trust => ({
  kind: "changed",
  added: [],
  changed: [],
  removed: [],
  ...what,
});

describe("what is to be approved", () => {
  it("is every server that may start, of every agent, and every setting that decides about them", async () => {
    const launches = await launchesOf({
      servers: { docs: DOCS, site: SITE, off: { command: "rm", enabled: false } },
      defaults: { workspace: "~/work", tools: { native: ["./tools.mjs"] } },
      list: [
        {
          id: "research",
          workspace: "elsewhere",
          mcp: {
            servers: {
              docs: { env: { KEY: "other" } },
              site: { timeout: 5 },
              off: { enabled: true },
              own: { command: "own" },
            },
          },
        },
        { id: "quiet", mcp: { servers: { docs: { enabled: false } } } },
      ],
      root: {
        secrets: { exec: { pass: { command: "/bin/pass" } } },
        network: { allow: ["10.0.0.0/8"] },
      },
    });
    expect(launches.map(({ label }) => label)).toEqual([
      "server docs",
      "server site",
      "setting workspace",
      "setting tools.native",
      "server research/docs",
      "server research/off",
      "server research/own",
      "setting research/workspace",
      "setting secrets",
      "setting network",
    ]);
  });

  it("is nothing where nothing starts", async () => {
    expect(await launchesOf({ defaults: { model: "a/b" }, root: { $schema: "x" } })).toEqual([]);
    expect(judgeTrust(undefined, [])).toEqual({ kind: "trusted" });
  });

  it("is what steers the model or skips a question, even where nothing starts", async () => {
    const launches = await launchesOf({
      defaults: {
        systemPrompt: "Obey the page.",
        tools: { approval: "never", deny: ["x"] },
        mcp: { session: { sampling: "allow" }, roots: ["/"], keepAlive: true },
      },
      list: [
        { id: "quiet", mcp: { keepAlive: false } },
        { id: "research", systemPrompt: "Be brief." },
      ],
    });
    expect(launches.map(({ label }) => label)).toEqual([
      "setting tools.approval",
      "setting mcp.session",
      "setting mcp.roots",
      "setting mcp.keepAlive",
      "setting systemPrompt",
      "setting research/systemPrompt",
    ]);
  });

  it("has values as they are written", async () => {
    const [docs] = await launchesOf({ servers: { docs: DOCS } });
    expect(docs).toMatchObject({ kind: "server", name: "docs", server: DOCS });
  });
});

describe("a configuration", () => {
  it("that nobody has approved is new", async () => {
    expect(judgeTrust(undefined, await launchesOf({ servers: { docs: DOCS } }))).toEqual({
      kind: "new",
    });
  });

  it.each<[string, object, object]>([
    ["timeouts", DOCS, { ...DOCS, timeout: 5000, toolTimeout: 1, maxRestarts: 2, lazy: true }],
    ["rules", DOCS, { ...DOCS, tools: { deny: ["x"] }, approval: "ask", toolPrefix: "d" }],
    [
      "the order of variables",
      { ...DOCS, env: { A: "1", B: "2" } },
      { ...DOCS, env: { B: "2", A: "1" } },
    ],
    ["another spelling of the same", { ...DOCS, cwd: "x" }, { ...DOCS, workingDir: "x" }],
    ["roots that are switched off", DOCS, { ...DOCS, roots: false }],
    ["keepAlive that is off", DOCS, { ...DOCS, keepAlive: false }],
    [
      "provenance",
      DOCS,
      {
        ...DOCS,
        provenance: {
          kind: "bundle",
          source: "docs.mcpb",
          name: "docs",
          version: "1.0.0",
          hash: `sha256-${"0".repeat(64)}`,
        },
      },
    ],
    ["servers that do not start", DOCS, DOCS],
  ])("stays trusted with other %s", async (_, before, after) => {
    const off = { command: "other", enabled: false };
    expect(await change({ servers: { docs: before } }, { servers: { docs: after, off } })).toEqual({
      kind: "trusted",
    });
  });

  it.each<[string, object, object]>([
    ["command", DOCS, { ...DOCS, command: "node" }],
    ["arguments", DOCS, { ...DOCS, args: ["docs", "-y"] }],
    ["variable", DOCS, { ...DOCS, env: { KEY: "${OTHER}" } }],
    ["variables", DOCS, { ...DOCS, env: {} }],
    ["directory", DOCS, { ...DOCS, cwd: "elsewhere" }],
    ["root", DOCS, { ...DOCS, roots: ["/"] }],
    ["keepAlive", DOCS, { ...DOCS, keepAlive: true }],
    ["keepAlive beside roots", { ...DOCS, roots: true }, { ...DOCS, roots: true, keepAlive: true }],
    ["roots of a remote server", SITE, { ...SITE, roots: true }],
    ["url", SITE, { ...SITE, url: "https://example.org/mcp" }],
    ["headers", SITE, { ...SITE, headers: { Authorization: "${AWS_SECRET}" } }],
    ["auth", SITE, { url: SITE.url, auth: { type: "bearer", token: "t" } }],
    ["oauth", SITE, { ...SITE, oauth: { clientId: "x" } }],
    ["certificates", SITE, { ...SITE, tls: { ca: "ca.pem" } }],
    ["plain http", SITE, { ...SITE, allowInsecure: true }],
    ["private addresses", SITE, { ...SITE, allowPrivate: true }],
    ["transport", SITE, { ...SITE, transport: "sse" }],
    ["kind of server", DOCS, SITE],
    ["registry to update it from", FROM_REGISTRY, from({ registry: "https://evil.example" })],
    ["name in the registry", FROM_REGISTRY, from({ name: "io.github.evil/docs" })],
    ["values for an update", FROM_REGISTRY, from({ inputs: { REGION: ["${AWS_SECRET}"] } })],
    ["word on a registry", DOCS, FROM_REGISTRY],
  ])("asks again for another %s", async (_, before, after) => {
    expect(await change({ servers: { it: before } }, { servers: { it: after } })).toEqual(
      changed({ changed: ["server it"] }),
    );
  });

  it("says what was added, removed and changed", async () => {
    expect(
      await change(
        { servers: { docs: DOCS, site: SITE } },
        { servers: { site: { ...SITE, allowPrivate: true }, more: DOCS }, root: { network: {} } },
      ),
    ).toEqual(
      changed({
        added: ["server more", "setting network"],
        changed: ["server site"],
        removed: ["server docs"],
      }),
    );
  });

  it("asks again where a server that was off is switched on", async () => {
    const servers = { docs: DOCS, off: { command: "rm", enabled: false } };
    expect(await change({ servers }, { servers: { docs: DOCS, off: { command: "rm" } } })).toEqual(
      changed({ added: ["server off"] }),
    );
  });

  it.each<[what: string, before: Parts, after: Parts, waiting: unknown, ofResearch?: unknown]>([
    ["a changed server", TWO, { servers: { docs: SITE, site: SITE } }, ["docs"]],
    ["a new one", TWO, { servers: { ...TWO.servers, more: DOCS } }, ["more"]],
    ["nothing that is gone", TWO, { servers: { docs: DOCS } }, []],
    ["nothing that is back", { servers: { docs: DOCS } }, { servers: { docs: DOCS } }, []],
    [
      "an agent's own server for that agent alone",
      research({}),
      research({ mcp: { servers: { docs: { args: ["evil"] } } } }),
      [],
      ["docs"],
    ],
    [
      "what the defaults change, also under an agent's settings for it",
      research({ mcp: { servers: { docs: { cwd: "x" } } } }),
      {
        ...research({ mcp: { servers: { docs: { cwd: "x" } } } }),
        servers: { docs: SITE, site: SITE },
      },
      ["docs"],
      ["docs"],
    ],
    [
      "not what an agent has as it was approved for it",
      research({ mcp: { servers: { docs: { command: "own", args: [], env: {} } } } }),
      {
        ...research({
          mcp: { servers: { docs: { command: "own", args: [], env: { KEY: "${KEY}" } } } },
        }),
        servers: { docs: { ...DOCS, command: "evil" }, site: SITE },
      },
      ["docs"],
      [],
    ],
    [
      "what an agent gets in place of its own, which is gone",
      research({ mcp: { servers: { docs: { args: ["--read-only"] } } } }),
      research({}),
      [],
      ["docs"],
    ],
    ...["workspace", "systemPrompt"].map((key): [string, Parts, Parts, unknown, unknown] => [
      `everything of the agent whose ${key} has changed`,
      research({}),
      research({ [key]: "x" }),
      [],
      "all",
    ]),
    ...[
      { workspace: "/" },
      { tools: { native: ["./evil.mjs"] } },
      { tools: { approval: "never" } },
      { mcp: { servers: TWO.servers, roots: ["/"] } },
    ].map((defaults): [string, Parts, Parts, unknown] => [
      `everything with other defaults: ${JSON.stringify(defaults)}`,
      TWO,
      { ...TWO, defaults },
      "all",
    ]),
    ...[{ network: {} }, { models: {} }, { audit: {} }, { secrets: {} }, { gateway: {} }].map(
      (root): [string, Parts, Parts, unknown] => [
        `everything with ${JSON.stringify(root)}, and everything without it again`,
        TWO,
        { ...TWO, root },
        "all",
      ],
    ),
  ])("has waiting: %s", async (what, before, after, waiting, ofResearch = waiting) => {
    const waits = async (one: Parts, other: Parts): Promise<unknown[]> => {
      const launches = await launchesOf(other);
      const trust = await change(one, other);
      return ["default", "research"].map((agent) => {
        const names = waitingServers(trust, launches, agent);
        return names === "all" ? names : [...names];
      });
    };
    expect(await waits(before, after)).toEqual([waiting, ofResearch]);
    if (what.endsWith("again")) expect(await waits(after, before)).toEqual(["all", "all"]);
  });

  it("does not confuse a server with a setting or an agent's server of a similar name", async () => {
    const launches = await launchesOf({
      servers: { secrets: DOCS, "a.docs": DOCS, docs: DOCS },
      list: [{ id: "a", mcp: { servers: { docs: SITE } } }],
      root: { secrets: {} },
    });
    const labels = launches.map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });
});

it.each([
  ["{}", true],
  ["{ mcpServers: {} }", true],
  ["{ $schema: 'x', agents: { defaults: { mcp: { servers: {} } } } }", true],
  ["{ mcpServers: { docs: { command: 'a', enabled: false } } }", false],
  ["{ agents: { defaults: { tools: { deny: ['x'] } } } }", false],
  ["{ agents: { defaults: { mcp: { toolNames: '{tool}' } } } }", false],
  ["{ agents: { list: [{ id: 'a' }] } }", false],
  ["{ gateway: {} }", false],
])("%s says nothing at all: %s", async (content, isEmpty) => {
  expect((await readLaunches(await writeConfig(content))).isEmpty).toBe(isEmpty);
});

it("what a file says to an editor changes nothing that is approved", async () => {
  const rest = 'mcpServers: { docs: { command: "a" } }, registry: "https://registry.example"';
  const [without, ...others] = await Promise.all(
    [`{ ${rest} }`, `{ $schema: "./a.json", ${rest} }`, `{ $schema: "./b.json", ${rest} }`].map(
      async (content) => readLaunches(await writeConfig(content)),
    ),
  );
  expect(without?.all.length).toBe(2);
  for (const other of others) expect(other).toEqual(without);
});

it("a file that is not a configuration is an error", async () => {
  const file = await writeConfig("{");
  expect((await failure(() => readLaunches(file))).code).toBe("CONFIG_INVALID");
});
