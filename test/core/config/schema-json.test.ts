// plugboard.schema.json accepts and refuses the same files as Plugboard, as far as JSON Schema can say it.

import { readdir, readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { rootSchema } from "../../../src/core/config/schema/file-schema.ts";
import type { Schema, Shape } from "../../../src/core/config/schema/schema.ts";
import { serverSchema } from "../../../src/core/config/schema/server-schema.ts";
import { parseText } from "../../../src/core/config/text/document.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { isJsonObject } from "../../../src/core/types/json.ts";

const root = new URL("../../../", import.meta.url);
const published: unknown = JSON.parse(
  await readFile(new URL("plugboard.schema.json", root), "utf8"),
);

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
// They are for editors, and say nothing about the content.
ajv.addVocabulary(["allowComments", "allowTrailingCommas", "errorMessage"]);
const isValid = ajv.compile(published as object);

/** `undefined` if the file is right, else what Plugboard says. */
async function problemOf(config: unknown): Promise<string | undefined> {
  const options = { text: JSON.stringify(config), homedir: "/home/me" };
  try {
    await loadConfig("/home/me/plugboard.json", undefined, options);
    return undefined;
  } catch (error) {
    if (error instanceof PlugboardError) return error.message;
    throw error;
  }
}

/** What only Plugboard refuses, by the keys that lead to it. */
const ONLY_PLUGBOARD: [keys: RegExp, value: RegExp, reason: string][] = [
  [/./, /\\u0000/, "NUL in a text"],
  [/./, /^"(?:\$\{|secret:|a secret:)/, "what is wrong inside a reference"],
  [
    /url$|Url$|Uri$|issuer$|registry$|proxy$|endpoint$|address$|authority$|allowedOrigins/i,
    /^"https?:/,
    "what is wrong inside a URL",
  ],
  [
    /^secrets\.exec\.name\.command$|\.ca$|\.tokenFile$/,
    /^"/,
    "which paths are absolute depends on the system",
  ],
  [
    /\.oauth\.(?:grant|audience|resource|subjectTokenType|requestedTokenType|clientAuth)$/,
    /^"/,
    "which keys belong to which grant",
  ],
  [/\.agent$/, /./, "whether there is such an agent"],
  [/\.rights\[\]\.role$/, /^"(?:owner|viewer)"$/, "what a role needs and excludes"],
  [/^gateway\.host$/, /^"/, "whether others can reach the address"],
  [/^gateway\.shared(?:\.postgres)?$/, /^(?:absent|\{\})$/, "why there must be a PostgreSQL"],
  [/^gateway\.shared\.keys$/, /^\["x"\]$/, "how long a key must be"],
];

/** Something for each key that must be there. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  token: "${TOKEN}",
  key: "key",
  id: "research",
  registry: "https://registry.example",
  name: "name",
  version: "1.0.0",
  hash: `sha256-${"0".repeat(64)}`,
  source: "server.mcpb",
  roleId: "role",
  role: "role",
  command: "/bin/helper",
  baseUrl: "https://example.com/v1",
  cert: "cert.pem",
  issuers: [{ issuer: "https://id.example", algorithms: ["RS256"] }],
  issuer: "https://id.example",
  algorithms: ["RS256"],
  url: "https://one.example",
};

interface Case {
  keys: string;
  value: unknown;
  config: unknown;
}

/** What is tried at every key. */
const ANYTHING: unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e12,
  "",
  "x",
  "no such word",
  "a\u0000b",
  "${HOME",
  "secret://gpc",
  "a secret://gcp/x",
  "https://",
  "https://example.com/mcp",
  "${URL}",
  [],
  {},
  ["x"],
  [1],
  [null],
  [""],
  { x: "y" },
  { x: 1 },
  { "": "x" },
];

function valuesFor({ shape, description }: Schema<unknown>): unknown[] {
  const { default: value, examples = [] } = description ?? {};
  return [...ANYTHING, ...(value === undefined ? [] : [value]), ...examples, ...ownValues(shape)];
}

function ownValues(shape: Shape): unknown[] {
  switch (shape.kind) {
    case "choice":
      return [...shape.words, `${shape.words[0]}s`];
    case "integer":
      return [shape.min, shape.max, shape.min - 1, shape.max + 1, String(shape.min)];
    case "list":
      return ownValues(shape.item.shape).map((each) => [each]);
    case "map":
      return ownValues(shape.values.shape).map((each) => ({ name: each }));
    case "either":
      return shape.schemas.flatMap((each) => ownValues(each.shape));
    default:
      return [];
  }
}

/** What is checked by the same schema in several places is tried in the first one. */
const tried = new Set<unknown>();

function isFirst(schema: Shape | Schema<unknown>): boolean {
  return tried.size < tried.add(schema).size;
}

/** `build` makes a whole file of a value at this place. */
function casesIn(shape: Shape, keys: string, build: (value: unknown) => unknown): Case[] {
  if (!isFirst(shape)) return [];
  switch (shape.kind) {
    case "object": {
      const whole = { ...required(shape.keys) };
      const unknown: Case = {
        keys: `${keys}.colour`,
        value: 1,
        config: build({ ...whole, colour: 1 }),
      };
      const inside = Object.entries(shape.keys).flatMap(([key, schema]) => {
        const path = keys === "" ? key : `${keys}.${key}`;
        const at = (value: unknown): unknown => build({ ...whole, [key]: value });
        const { [key]: _, ...without } = whole;
        if (!isFirst(schema)) return [];
        return [
          { keys: path, value: undefined, config: build(without) },
          ...valuesFor(schema).map((value) => ({ keys: path, value, config: at(value) })),
          ...casesIn(schema.shape, path, at),
        ];
      });
      return [unknown, ...inside];
    }
    case "map":
      return casesIn(shape.values.shape, `${keys}.name`, (value) => build({ name: value }));
    case "list":
      return casesIn(shape.item.shape, `${keys}[]`, (value) => build([value]));
    case "either":
      return shape.schemas.flatMap((each) => casesIn(each.shape, keys, build));
    default:
      return [];
  }
}

function required(keys: Readonly<Record<string, Schema<unknown>>>): Record<string, unknown> {
  // A server needs one of them.
  if (keys === serverKeys) return { command: "run" };
  // Its JWTs need the one, and its page the other.
  if (Object.hasOwn(keys, "publicUrl")) {
    return { publicUrl: "https://gateway.example", jwt: { issuers: SAMPLES["issuers"] } };
  }
  if (Object.hasOwn(keys, "clientId")) return { clientId: "page" };
  if (Object.hasOwn(keys, "claim")) return { claim: "groups", has: "staff" };
  if (Object.hasOwn(keys, "sentinels")) return { url: "valkey://cache.example" };
  if (Object.hasOwn(keys, "maxStale")) return { postgres: { url: "postgres://db.example/x" } };
  if (Object.hasOwn(keys, "password") && Object.hasOwn(keys, "tls")) {
    return { url: "postgres://db.example/x" };
  }
  const entries = Object.entries(keys).filter(([, { isOptional }]) => !isOptional);
  return Object.fromEntries(
    entries.map(([key, { shape }]) => {
      const value = shape.kind === "choice" ? shape.words[0] : SAMPLES[key];
      if (value === undefined) throw new Error(`there is no sample for ${key}`);
      return [key, value];
    }),
  );
}

const serverKeys = serverSchema.shape.kind === "object" ? serverSchema.shape.keys : {};

describe("plugboard.schema.json", () => {
  it("agrees with Plugboard on every key, with right and wrong values", async () => {
    const cases = casesIn(rootSchema.shape, "", (value) => value);
    const counts = { accepted: 0, refused: 0 };
    const used = new Set<string>();
    const different: string[] = [];
    for (const { keys, value, config } of cases) {
      const problem = await problemOf(config);
      counts[problem === undefined ? "accepted" : "refused"] += 1;
      if (isValid(config) === (problem === undefined)) continue;
      const text = JSON.stringify(value) ?? "absent";
      const known = ONLY_PLUGBOARD.find(([path, is]) => path.test(keys) && is.test(text));
      if (problem !== undefined && known !== undefined) used.add(known[2]);
      else different.push(`${keys} = ${text}: ${problem ?? ajv.errorsText(isValid.errors)}`);
    }
    expect(different).toEqual([]);
    expect([...used].toSorted()).toEqual(ONLY_PLUGBOARD.map(([, , reason]) => reason).toSorted());
    expect(counts.accepted).toBeGreaterThan(500);
    expect(counts.refused).toBeGreaterThan(2000);
  });

  const run = { command: "run" };
  const over = (server: unknown, defaults: unknown = { a: run }): unknown => ({
    mcpServers: defaults,
    agents: { list: [{ id: "x", mcp: { servers: { a: server } } }] },
  });

  it.each<[string, unknown]>([
    ["an empty file", {}],
    ["a server with a command", { mcpServers: { a: run } }],
    [
      "a server with both and a transport",
      { servers: { a: { ...run, url: "https://a.example", type: "http" } } },
    ],
    ["an agent that switches a server off", over({ enabled: false })],
    [
      "an agent that gives a server another transport",
      over({ transport: "http", url: "https://a.example" }),
    ],
    ["a name with an emoji", { mcpServers: { "🔌 plug": run } }],
    ["a URL in capitals", { mcpServers: { a: { url: "HTTPS://EXAMPLE.COM" } } }],
  ])("both accept %s", async (_, config) => {
    expect(await problemOf(config)).toBeUndefined();
    expect([isValid(config), isValid.errors]).toEqual([true, null]);
  });

  it.each<[string, unknown]>([
    ["a list", []],
    ["a server with nothing to start", { mcpServers: { a: {} } }],
    [
      "a server with a command and a URL",
      { mcpServers: { a: { ...run, url: "https://a.example" } } },
    ],
    [
      "stdio without a command",
      { mcpServers: { a: { transport: "stdio", url: "https://a.example" } } },
    ],
    ["http without a URL", { mcpServers: { a: { ...run, type: "streamable-http" } } }],
    ["servers under both names", { mcpServers: {}, servers: {} }],
    [
      "servers in the short and the long form",
      { mcpServers: {}, agents: { defaults: { mcp: { servers: {} } } } },
    ],
    ["an agent without an id", { agents: { list: [{}] } }],
    ["the id of the default agent", { agents: { list: [{ id: "default" }] } }],
    ["the name of the native tools", { mcpServers: { native: run } }],
    ["a name with a slash", { mcpServers: { "a/b": run } }],
    ["a name with a space at its end", { mcpServers: { "a ": run } }],
    ["a name that is too long", { mcpServers: { ["a".repeat(65)]: run } }],
    ["JWTs without a public URL", { gateway: { jwt: { issuers: SAMPLES["issuers"] } } }],
    ["servers where Zed has them", { context_servers: {} }],
  ])("both refuse %s", async (_, config) => {
    expect(await problemOf(config)).toMatch(/problem/);
    expect(isValid(config)).toBe(false);
  });

  it.each<[string, unknown]>([
    ["an agent's server needs one in the defaults, or a command", over({ lazy: true }, {})],
    ["what an agent's server is, together with that of the defaults", over({ transport: "http" })],
    [
      "two names of a key that contradict each other",
      { mcpServers: { a: { ...run, cwd: "a", workingDir: "b" } } },
    ],
    ["two agents of one id", { agents: { list: [{ id: "a" }, { id: "a" }] } }],
    ["an address that others reach, without TLS", { gateway: { host: "0.0.0.0" } }],
    [
      "a secret of a provider that there is not",
      { mcpServers: { a: { ...run, env: { A: "secret://gpc/x" } } } },
    ],
  ])("only Plugboard knows: %s", async (_, config) => {
    expect(await problemOf(config)).toMatch(/problem/);
    expect([isValid(config), isValid.errors]).toEqual([true, null]);
  });

  it("agrees with Plugboard on every configuration in the docs", async () => {
    const names = (await readdir(new URL("docs/", root))).filter((name) => name.endsWith(".md"));
    const pages = ["README.md", ...names.map((name) => `docs/${name}`)];
    const found: string[] = [];
    for (const page of pages) {
      const text = await readFile(new URL(page, root), "utf8");
      for (const [, block = ""] of text.matchAll(/^```json[c5]?\n([^]*?)^```$/gm)) {
        const document = parseText(block);
        const value = document.kind === "document" ? document.value : undefined;
        if (!isJsonObject(value) || !OURS.some((key) => Object.hasOwn(value, key))) continue;
        const problem = await problemOf(value);
        // Other applications have keys and variables of their own.
        if (problem !== undefined && !page.endsWith("configuration.md")) continue;
        found.push(page);
        expect([page, block, isValid(value)]).toEqual([page, block, problem === undefined]);
      }
    }
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((page) => page === "docs/configuration.md").length).toBeGreaterThan(5);
  });
});

const OURS = ["mcpServers", "agents", "gateway", "secrets", "network", "models"];
