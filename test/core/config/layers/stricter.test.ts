import { describe, expect, it } from "vitest";
import { loadGateway } from "../../../../src/core/config/gateway.ts";
import { loadConfig } from "../../../../src/core/config/load.ts";

import { defaultsSchema, rootSchema } from "../../../../src/core/config/schema/file-schema.ts";
import type { Schema } from "../../../../src/core/config/schema/schema.ts";
import { serverSchema } from "../../../../src/core/config/schema/server-schema.ts";
import { failure, writeConfig } from "../files.ts";

/** The value at a path of a configuration, and the rest of what makes it valid. */
function at(path: string, value: unknown, rest: object = {}): object {
  const steps = path.split(".");
  return steps.reduceRight<unknown>(
    (inside, step, index) => ({ ...(index === 0 ? rest : {}), [step]: inside }),
    value,
  ) as object;
}

const AGENT = "agents.defaults";
const SESSION = `${AGENT}.mcp.session`;
const DOCS = `${AGENT}.mcp.servers.docs`;

type Case = [key: string, mine: unknown, looser: unknown, stricter: unknown, rest?: object];

const PER_SERVER: [string, unknown, unknown, unknown][] = [
  ["approval", "ask", "never", "ask"],
  ["approval", undefined, undefined, "destructive"],
  [
    "approval",
    { tools: { "d*": "ask" } },
    { tools: { drop: "never" } },
    { tools: { drop: "ask" } },
  ],
  ["approval", { default: "ask", tools: { a: "never" } }, { tools: { b: "never" } }, "ask"],
  ["approval", { tools: { "docs/drop": "ask" } }, { tools: { mcp__docs__drop: "never" } }, "ask"],
  ["pins", "block", "warn", "block"],
  ["pins", undefined, "off", "block"],
  ["framing", "compact", "off", "full"],
  ["framing", undefined, "compact", "full"],
  ["trusted", undefined, true, false],
  ["trusted", true, undefined, false],
  ["include", "manual", "always", "manual"],
  ["include", { tools: { a: "agent" } }, { tools: { a: "always" } }, { tools: { a: "manual" } }],
  ["include", undefined, undefined, "agent"],
  ["resources", false, "context", false],
  ["resources", "list", true, false],
  ["resources", undefined, undefined, "list"],
  ["resourceFilter", ["a", "b"], ["c"], ["b"]],
  ["resourceFilter", undefined, undefined, ["c"]],
  ["sampling", undefined, "ask", "deny"],
  ["sampling", "ask", "allow", "deny"],
  ["rateLimit", 5, false, 4],
  ["rateLimit", { tools: { a: 5 } }, { tools: { a: 6 } }, { default: 9, tools: { a: 5 } }],
  ["concurrency", 2, 3, 1],
  ["maxResultBytes", undefined, 262_145, 5000],
  ["maxResultBytes", 5000, 6000, 4000],
  ["maxMessageBytes", undefined, 67_108_865, 5000],
  ["scope", "session", "shared", "session"],
  ["scope", undefined, undefined, "session"],
  ["toolPrefix", "gh", "zz", "gh"],
  ["toolPrefix", undefined, undefined, "gh"],
];

const SERVER = { command: "docs" };
const REMOTE = { url: "https://docs.example/mcp" };

const CASES: Case[] = [
  ["audit.file", undefined, "/dev/null", undefined],
  ["audit.file", "/var/log/audit", "/dev/null", "/var/log/audit"],
  ["audit.arguments", true, false, true],
  ["audit.arguments", undefined, undefined, true],
  ["network.allow", undefined, ["10.0.0.0/8"], []],
  ["network.allow", ["a", "b"], ["a", "c"], ["a"]],
  ["network.proxy", undefined, "http://evil.example:1", undefined],
  ["network.proxy", "http://p:1", "http://evil.example:1", "http://p:1"],
  ["network.inherit", false, true, false],
  ["network.inherit", undefined, undefined, false],
  ["registry", undefined, "https://evil.example", undefined],
  ["registry", "https://mine.example", "https://evil.example", "https://mine.example"],
  ["acp.owner", undefined, true, false],
  ["acp.owner", true, undefined, false],
  ["secrets.file.path", undefined, "secrets.json", undefined],
  ["gateway.host", undefined, "0.0.0.0", "::1", { behindProxy: true }],
  ["gateway.tls", { cert: "c", key: "k" }, { cert: "d", key: "k" }, { cert: "c", key: "k" }],
  ["gateway.tls", undefined, undefined, { cert: "c", key: "k" }],
  ["gateway.behindProxy", undefined, true, false],
  ["gateway.publicUrl", undefined, "https://evil.example", undefined],
  ["gateway.allowedHosts", ["a", "b"], ["evil.example"], ["b"]],
  ["gateway.allowedOrigins", undefined, ["https://evil.example"], []],
  [
    "gateway.jwt",
    undefined,
    { issuers: [{ issuer: "https://evil.example", algorithms: ["RS256"] }] },
    undefined,
    { publicUrl: "https://me.example" },
  ],
  [
    "gateway.ui",
    { clientId: "page" },
    { clientId: "another" },
    { clientId: "page" },
    {
      jwt: { issuers: [{ issuer: "https://me.example", algorithms: ["RS256"] }] },
      publicUrl: "https://me.example",
    },
  ],
  ["gateway.shared", undefined, { postgres: { url: "postgres://evil.example/x" } }, undefined],
  ...(
    [
      ["bodyBytes", 16 * 1024 * 1024],
      ["bodyValues", 50_000],
      ["headerBytes", 32 * 1024],
      ["requestsPerMinute", 60_000],
      ["bytesPerMinute", 256 * 1024 * 1024],
      ["connections", 2000],
      ["sessions", 10_000],
      ["sessionServers", 200],
      ["people", 1000],
    ] as const
  ).map(([key, most]): Case => [`gateway.limits.${key}`, undefined, most + 1, most - 1]),
  ["gateway.limits.requestsPerMinute", 5, false, 4],
  ["gateway.quotas.callsPerMinute", 5, 6, 4],
  ["gateway.quotas.callsPerDay", 5, 6, 4],
  ["gateway.quotas.concurrentCalls", 5, 6, 4],
  ["gateway.quotas.agents.default.callsPerDay", 5, 6, 4],
  [
    "models.providers.lab.baseUrl",
    "https://a.example",
    "https://b.example",
    "https://a.example",
    { type: "openai" },
  ],
  ["models.providers.lab.apiKey", "${A}", "${B}", "${A}", { type: "openai" }],
  [
    "models.providers.openai.baseUrl",
    undefined,
    "https://b.example",
    undefined,
    { type: "openai" },
  ],
  ["models.providers.openai.type", undefined, "anthropic", "openai"],
  ["models.providers.google.contextWindow", undefined, undefined, 5000, { type: "google" }],
  [`${AGENT}.tools.approval`, "ask", "destructive", "ask"],
  [`${AGENT}.tools.approval`, undefined, undefined, "ask"],
  [`${AGENT}.pins`, "block", "off", "block"],
  [`${AGENT}.framing`, "compact", "off", "full"],
  [`${AGENT}.limits.sessionServers`, undefined, 1000, 3],
  [`${AGENT}.limits.sessionTools`, 5, 6, 4],
  [`${AGENT}.maxSteps`, undefined, 51, 49],
  [`${AGENT}.mcp.toolNames`, "{server}_{tool}", "{tool}_{server}", "{server}_{tool}"],
  [`${AGENT}.mcp.toolNames`, undefined, undefined, "{tool}_{server}"],
  [`${AGENT}.mcp.toolNameLength`, 40, 50, 40],
  ...PER_SERVER.map(([key, ...values]): Case => [`${DOCS}.${key}`, ...values, SERVER]),
  ...PER_SERVER.map(([key, ...values]): Case => [`${SESSION}.${key}`, ...values]),
  [`${DOCS}.allowInsecure`, undefined, true, false, REMOTE],
  [`${DOCS}.allowPrivate`, undefined, true, false, REMOTE],
];

/** Where no value is looser than another, or two files are laid over each other in another way. */
const FREE = [
  "$schema",
  // Where it listens on this machine, and how long something may take.
  ...["port", "sessionTimeout", "idleTimeout", "approvalWait", "stopDelay"].map(
    (key) => `gateway.${key}`,
  ),
  // Yours comes first, and what the project says besides is not used for your references.
  ...["env", "exec", "gcp", "aws", "vault", "azure", "op", "keyring"].map(
    (key) => `secrets.${key}`,
  ),
  // What the agent is.
  ...["id", "model", "models", "systemPrompt", "modelNotice", "modelTimeout", "workspace"].map(
    (key) => `${AGENT}.${key}`,
  ),
  ...["startupWait", "resourceTools", "toolSearch"].map((key) => `${AGENT}.mcp.${key}`),
  // Each file says it of its own servers.
  `${AGENT}.mcp.roots`,
  `${AGENT}.mcp.keepAlive`,
  // They add up: rules of both hold, and what the project loads has to be trusted.
  ...["allow", "deny", "ownerOnly", "native"].map((key) => `${AGENT}.tools.${key}`),
  `${DOCS}.tools`,
  // What is started, and shown by `plugboard trust`: the project's server takes the place of yours as a whole.
  ...["transport", "type", "command", "args", "env", "cwd", "workingDir", "url", "headers"].map(
    (key) => `${DOCS}.${key}`,
  ),
  ...[
    "auth",
    "oauth",
    "tls",
    "replicas",
    "worker",
    "roots",
    "keepAlive",
    "provenance",
    "enabled",
  ].map((key) => `${DOCS}.${key}`),
  // How it is kept running.
  ...["timeout", "toolTimeout", "restartOnCrash", "maxRestarts", "lazy", "idleTimeout"].map(
    (key) => `${DOCS}.${key}`,
  ),
  ...["protocol", "resourceRefreshMs"].map((key) => `${DOCS}.${key}`),
];

/** Puts what belongs beside the last key there. */
function content(key: string, value: unknown, rest: object = {}): string {
  const steps = key.split(".");
  const last = steps.pop() ?? "";
  const inner = { ...rest, ...(value !== undefined && { [last]: value }) };
  return JSON.stringify(steps.length === 0 ? inner : at(steps.join("."), inner));
}

/** Yours: without the key, it has the server that the key is about. */
function mineFile(key: string, mine: unknown, rest?: object): Promise<string> {
  const isEmpty = mine === undefined && !key.startsWith(DOCS);
  return writeConfig(isEmpty ? "{}" : content(key, mine, rest));
}

describe("of a project's file over yours", () => {
  it.each(CASES.filter(([, , looser]) => looser !== undefined))(
    "%s over %j is refused at its place if it is %j",
    async (key, mine, looser, _stricter, rest) => {
      const base = await mineFile(key, mine, rest);
      const file = await writeConfig(`\n${content(key, looser, rest)}`);
      for (const load of [
        () => loadConfig(file, undefined, { base }),
        () => loadGateway(file, { base }),
      ]) {
        const error = await failure(load);
        const problem = error.problems?.find(({ path }) => path === key);
        expect(problem).toMatchObject({ file, line: 2 });
        expect(problem?.message).toMatch(
          /; remove it here(?:, .*)?, or write it into your own file, /,
        );
        expect(problem?.message).toContain(base);
      }
    },
  );

  it.each(CASES.filter(([, , , stricter]) => stricter !== undefined))(
    "%s over %j is taken if it is not looser: not %j, but %j",
    async (key, mine, _looser, stricter, rest) => {
      // To listen to others, it needs more beside it.
      const beside = key === "gateway.host" ? {} : rest;
      const base = await mineFile(key, mine, beside);
      const file = await writeConfig(content(key, stricter, beside));
      await expect(loadConfig(file, undefined, { base })).resolves.toBeDefined();
      await expect(loadGateway(file, { base })).resolves.toBeDefined();
    },
  );

  it("what one of your agents may not do is found also where the project speaks of all", async () => {
    const list = (limit: number) => [{ id: "coder", limits: { sessionServers: limit } }];
    const base = await writeConfig(JSON.stringify({ agents: { list: list(3) } }));
    const general = { defaults: { limits: { sessionServers: 4 } } };
    for (const [agents, path] of [
      [{ list: list(4) }, "agents.list[0].limits.sessionServers"],
      [general, "agents.defaults.limits.sessionServers"],
      [{ ...general, list: list(2) }, undefined],
    ] as const) {
      const file = await writeConfig(JSON.stringify({ agents }));
      const load = loadConfig(file, undefined, { base });
      if (path === undefined) await expect(load).resolves.toBeDefined();
      else {
        const { problems } = await failure(() => load);
        expect(problems.map((each) => each.path)).toEqual([path]);
        expect(problems[0]?.message).toMatch(/^is 4, looser than 3 in your own file; /);
      }
    }
  });

  it("what you have set for all servers holds for those that only the project has", async () => {
    const base = await writeConfig(JSON.stringify(at(`${AGENT}.tools.approval`, "ask")));
    const of = (settings: object): Promise<string> =>
      writeConfig(JSON.stringify({ mcpServers: { theirs: { ...SERVER, ...settings } } }));
    const { problems } = await failure(async () =>
      loadConfig(await of({ approval: "never" }), undefined, { base }),
    );
    expect(problems.map(({ path }) => path)).toEqual(["mcpServers.theirs.approval"]);
    // All else about a server of its own is for the project to say.
    const free = { sampling: "allow", pins: "off", trusted: true, maxResultBytes: 1_000_000 };
    await expect(loadConfig(await of(free), undefined, { base })).resolves.toBeDefined();
  });

  it("no value of it is repeated that may be a secret", async () => {
    const base = await writeConfig(JSON.stringify({ network: { proxy: "http://u:pw1@a:1" } }));
    const file = await writeConfig(JSON.stringify({ network: { proxy: "http://u:pw2@a:1" } }));
    const { message } = await failure(() => loadConfig(file, undefined, { base }));
    expect(message).not.toMatch(/pw[12]/);
  });

  it("every key of a file is compared, or on a list of those that are not", () => {
    const keysOf = ({ shape }: Schema<unknown>, path: string): string[] =>
      shape.kind === "object"
        ? Object.entries(shape.keys).flatMap(([key, of]) =>
            keysOf(of, path === "" ? key : `${path}.${key}`),
          )
        : [path];
    const all = [
      ...keysOf(rootSchema, "").filter((key) => !/^(?:agents|mcpServers|servers)\b/.test(key)),
      // Those of servers of sessions are among those of a server.
      ...keysOf(defaultsSchema, AGENT).filter((key) => !key.startsWith(SESSION)),
      ...keysOf(serverSchema, DOCS),
    ];
    const isIn = (keys: string[], key: string): boolean =>
      keys.some((each) => each === key || key.startsWith(`${each}.`) || each.startsWith(`${key}.`));
    const compared = CASES.map(([key]) => key);
    expect(all.filter((key) => !isIn(compared, key) && !isIn(FREE, key))).toEqual([]);
    expect(FREE.filter((key) => isIn(compared, key))).toEqual([]);
  });
});
