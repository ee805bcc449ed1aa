import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type CachedTools,
  CatalogCache,
  definitionHash,
} from "../../../src/core/catalog/catalog-cache.ts";
import type { ServerDefinition } from "../../../src/core/types/server-definition.ts";
import { definition } from "../../support/definition.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const capabilities = { roots: { listChanged: true }, elicitation: { form: {} } };
const entry: CachedTools = {
  savedAt: 1_700_000_000_000,
  origin: "00ff",
  capabilities,
  identity: { era: "legacy", protocolVersion: "2025-11-25", name: "docs", version: "1.0.0" },
  tools: [
    { name: "read", description: "Reads.", inputSchema: { type: "object" }, _meta: { a: [1] } },
    { name: "検索", inputSchema: {}, outputSchema: {}, annotations: { readOnlyHint: true } },
  ],
  found: [{ server: "docs", message: "read has words for a model" }],
};

/** Where the entry is, by the definition's hash and the capabilities. */
const FILE = "hash-eee9de6e.json";

let stateDir: string;
let path: string;

beforeEach(() => {
  stateDir = temporaryDirectory();
  path = join(stateDir, "catalog", FILE);
});

describe("CatalogCache", () => {
  it("returns what was written, and nothing for another hash", async () => {
    const cache = new CatalogCache(stateDir);
    await cache.write("hash", entry);
    expect(await cache.read("hash", capabilities)).toEqual(entry);
    expect(await new CatalogCache(stateDir).read("hash", capabilities)).toEqual(entry);
    expect(await cache.read("other", capabilities)).toBeUndefined();
  });

  it("keeps a list for each set of capabilities, in whatever order they are written", async () => {
    const cache = new CatalogCache(stateDir);
    const less = { ...entry, capabilities: {}, tools: [] };
    await cache.write("hash", entry);
    await cache.write("hash", less);
    const reordered = { elicitation: { form: {} }, roots: { listChanged: true } };
    expect(await cache.read("hash", reordered)).toEqual(entry);
    expect(await cache.read("hash", {})).toEqual(less);
    expect(await cache.read("hash", { roots: {} })).toBeUndefined();
  });

  it("finds the newest list of a definition, in whatever directory the server ran", async () => {
    const cache = new CatalogCache(stateDir);
    const lists = [1, 3, 2].map((savedAt) => ({ ...entry, savedAt, origin: "aa11" }));
    for (const list of lists) await cache.write(`hash${list.savedAt}`, list);
    await cache.write("other", { ...entry, savedAt: 9, origin: "bb22" });
    expect(await cache.newest(["aa11", "cc33"])).toEqual(new Map([["aa11", lists[1]]]));
  });

  it("has the last list of the server, whatever was advertised", async () => {
    const cache = new CatalogCache(stateDir);
    expect(await cache.readAny("hash")).toBeUndefined();
    const { identity, savedAt } = entry;
    const last = { ...entry, identity: { ...identity, transport: "sse" as const } };
    await cache.write("hash", { ...last, savedAt: savedAt + 1 });
    await cache.write("hash", { ...entry, capabilities: {} });
    await cache.write("other", { ...entry, savedAt: savedAt + 2 });
    expect(await cache.readAny("hash")).toEqual({ ...last, savedAt: savedAt + 1 });
  });

  it("notes that a server has failed since, in all of its lists, until it lists again", async () => {
    const cache = new CatalogCache(stateDir);
    await cache.doubt("hash");
    expect(await cache.read("hash", capabilities)).toBeUndefined();
    await cache.write("hash", entry);
    await cache.write("hash", { ...entry, capabilities: {} });
    await cache.write("other", entry);
    await cache.doubt("hash");
    expect(await cache.read("hash", capabilities)).toEqual({ ...entry, isDoubted: true });
    expect(await cache.read("hash", {})).toMatchObject({ isDoubted: true });
    expect(await cache.read("other", capabilities)).toEqual(entry);
    await cache.write("hash", entry);
    expect(await cache.read("hash", capabilities)).toEqual(entry);
  });

  it("keeps the last write", async () => {
    const cache = new CatalogCache(stateDir);
    await cache.write("hash", entry);
    await cache.write("hash", { ...entry, tools: [] });
    expect((await cache.read("hash", capabilities))?.tools).toEqual([]);
  });

  it.runIf(process.platform !== "win32")("is readable by its owner alone", async () => {
    const deep = join(stateDir, "new", "state");
    await new CatalogCache(deep).write("hash", entry);
    const modes = await Promise.all(
      [deep, join(deep, "catalog"), join(deep, "catalog", FILE)].map(
        async (each) => (await stat(each)).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  it("survives many writers at once: a reader sees one complete entry", async () => {
    const cache = new CatalogCache(stateDir);
    await cache.write("hash", entry);
    const versions = Array.from({ length: 24 }, (_, savedAt) => ({
      ...entry,
      savedAt,
      tools: [{ name: `tool-${savedAt}`, description: "x".repeat(20_000), inputSchema: {} }],
    }));
    const writing = Promise.all(versions.map((version) => cache.write("hash", version)));
    const read: (CachedTools | undefined)[] = [];
    for (let turn = 0; turn < 50; turn += 1) read.push(await cache.read("hash", capabilities));
    await writing;
    read.push(await cache.read("hash", capabilities));
    for (const each of read) expect([entry, ...versions]).toContainEqual(each);
    expect(await readdir(join(stateDir, "catalog"))).toEqual([FILE]);
  });
});

describe("a file that is not an entry", () => {
  const stored = { format: 1, ...entry };
  const tool = entry.tools[0];

  it.each<[string, unknown]>([
    ["of another format", { ...stored, format: 2 }],
    ["without a format", entry],
    ["without a time", { ...stored, savedAt: "yesterday" }],
    ["without an origin", { ...stored, origin: undefined }],
    ["without what was found", { ...stored, found: undefined }],
    ["with an invalid finding", { ...stored, found: [{ server: "docs" }] }],
    ["without an identity", { ...stored, identity: undefined }],
    ["with an invalid identity", { ...stored, identity: [] }],
    ["without a version", { ...stored, identity: { era: "legacy" } }],
    ["of another era", { ...stored, identity: { ...entry.identity, era: "stone" } }],
    ["without capabilities", { ...stored, capabilities: undefined }],
    ["without tools", { ...stored, tools: {} }],
    ["with an invalid tool", { ...stored, tools: [tool, null] }],
    ["with a tool without a name", { ...stored, tools: [{ ...tool, name: 5 }] }],
    ["with a tool without a schema", { ...stored, tools: [{ name: "read" }] }],
    ["with a description that is not text", { ...stored, tools: [{ ...tool, description: 5 }] }],
    ["that is a list", [stored]],
    ["that is null", null],
  ])("is ignored: %s", async (_, value) => {
    await place(JSON.stringify(value));
    expect(await new CatalogCache(stateDir).read("hash", capabilities)).toBeUndefined();
  });

  it("is ignored: torn or empty", async () => {
    const whole = JSON.stringify(stored);
    for (const text of ["", whole.slice(0, -1), whole.slice(1), "\u0000".repeat(100)]) {
      await place(text);
      expect(await new CatalogCache(stateDir).read("hash", capabilities)).toBeUndefined();
    }
  });

  it("is replaced by the next write", async () => {
    await place("{broken");
    const cache = new CatalogCache(stateDir);
    await cache.write("hash", entry);
    expect(await cache.read("hash", capabilities)).toEqual(entry);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual(stored);
  });
});

describe("definitionHash", () => {
  const docs = definition({
    name: "docs",
    target: { kind: "stdio", command: "docs-server", args: ["--fast"], env: { KEY: "${KEY}" } },
  });
  const { target } = docs;
  const hash = definitionHash(docs, "/home/somebody");

  it("is a valid file name", () => {
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each<[string, Partial<ServerDefinition>]>([
    ["where it came from", { origin: "agent" }],
    ["its timeouts", { timeout: 1, toolTimeout: 1, idleTimeout: 1 }],
    ["whether and when it starts", { enabled: false, lazy: true, restartOnCrash: false }],
    ["its prefix", { toolPrefix: "d" }],
  ])("does not depend on %s", (_, change) => {
    expect(definitionHash({ ...docs, ...change }, "/home/somebody")).toBe(hash);
  });

  it.each<[string, Partial<ServerDefinition>, string]>([
    ["its name", { name: "docs2" }, "/home/somebody"],
    ["its command", { target: { ...target, command: "other" } as typeof target }, "/home/somebody"],
    ["its arguments", { target: { ...target, args: [] } as typeof target }, "/home/somebody"],
    ["its environment", { target: { ...target, env: {} } as typeof target }, "/home/somebody"],
    ["its protocol", { protocol: "legacy" }, "/home/somebody"],
    ["where it runs", {}, "/home/other"],
  ])("depends on %s", (_, change, cwd) => {
    expect(definitionHash({ ...docs, ...change }, cwd)).not.toBe(hash);
  });
});

async function place(text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
