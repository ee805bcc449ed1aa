import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { CatalogCache, definitionHash } from "../../../src/core/catalog/catalog-cache.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import { complete } from "../../../src/cli/completion/complete.ts";
import { describeGrammar } from "../../../src/cli/describe-grammar.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const grammar = await describeGrammar();
let directory: string;
let home: string;

beforeEach(() => {
  directory = temporaryDirectory();
  home = join(directory, "home");
});

async function configure(config: object): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "plugboard.json"), JSON.stringify(config));
}

async function ask(...words: string[]): Promise<string[]> {
  const around = { env: { PLUGBOARD_HOME: home }, cwd: directory, homedir: directory };
  const answer = await complete(["fish", ...words], around, grammar);
  const [kind, ...lines] = answer.slice(0, -1).split("\n");
  expect(kind).toBe("none");
  return lines;
}

/** As a run from another directory would have left them. */
async function saveTools(server: string, tools: object[], savedAt = 1): Promise<void> {
  const { servers } = await loadConfig(join(home, "plugboard.json"));
  const definition = servers.find(({ name }) => name === server);
  if (definition === undefined) throw new Error(`there is no ${server}`);
  await new CatalogCache(home).write(definitionHash(definition, `/elsewhere/${savedAt}`), {
    savedAt,
    origin: definitionHash(definition, ""),
    capabilities: {},
    identity: { era: "legacy", protocolVersion: "2025-11-25" },
    found: [],
    tools: tools.map((tool) => ({ name: "", inputSchema: {}, ...tool })),
  });
}

describe("plugboard __complete", () => {
  it("knows servers and agents from the configuration, and tools from earlier runs, wherever they were", async () => {
    await configure({
      agents: {
        defaults: {
          mcp: { servers: { files: { command: "x" }, off: { command: "y", enabled: false } } },
        },
        list: [{ id: "coder", mcp: { servers: { docs: { url: "https://example.com/mcp" } } } }],
      },
    });
    await saveTools("files", [{ name: "old" }]);
    const inputSchema = {
      properties: {
        a: { enum: ["x", 2, null] },
        b: { type: "boolean", description: "really?\nyes" },
      },
      required: ["b"],
    };
    await saveTools("files", [{ name: "read", description: "Reads a file.", inputSchema }], 2);
    expect(await ask("status", "")).toEqual(["files\t", "off\t"]);
    expect(await ask("--agent", "coder", "status", "d")).toEqual(["docs\t"]);
    expect(await ask("--agent", "")).toEqual(["coder\t"]);
    expect(await ask("call", "files/")).toEqual(["files/read\tReads a file."]);
    expect(await ask("call", "files/read", "")).toEqual(["b=\treally? yes", "a=\t"]);
    expect(await ask("call", "files/read", "a=")).toEqual(["a=x\t", "a=2\t"]);
    expect(await ask("call", "files/read", "b=t")).toEqual(["b=true\t"]);
  });

  it("keeps the names in a file for its owner alone, until the configuration or a list of tools changes", async () => {
    await configure({ mcpServers: { one: { command: "x" } } });
    expect(await ask("status", "")).toEqual(["one\t"]);
    const kept = join(home, "completion.json");
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    // Whatever is in it is used, so nothing else was read.
    await writeFile(kept, (await readFile(kept, "utf8")).replace('["one"]', '["kept"]'));
    expect(await ask("status", "")).toEqual(["kept\t"]);
    await saveTools("one", [{ name: "tool" }]);
    expect(await ask("call", "")).toEqual(["one/tool\t"]);
    await configure({ mcpServers: { two: { command: "x" }, three: { command: "y" } } });
    expect(await ask("status", "")).toEqual(["two\t", "three\t"]);
  });

  it("keeps little of a server with endless schemas, and all of the others", async () => {
    await configure({ mcpServers: { fat: { command: "x" }, thin: { command: "y" } } });
    const choices = Array.from({ length: 50 }, (_, at) => "v".repeat(190) + at);
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`k${at}`, { enum: choices }]),
    );
    const many = Array.from({ length: 20 }, (_, at) => ({
      name: `t${at}`,
      inputSchema: { properties },
    }));
    await saveTools("fat", many);
    await saveTools("thin", [{ name: "read", inputSchema: { properties: { path: {} } } }]);
    expect((await ask("call", "fat/")).length).toBe(20);
    expect(await ask("call", "thin/read", "")).toEqual(["path=\t"]);
    expect((await ask("call", "fat/t0", "")).length).toBe(100);
    expect(await ask("call", "fat/t19", "")).toEqual([]);
    expect(statSync(join(home, "completion.json")).size).toBeLessThan(4 * 1024 ** 2);
  });

  it("offers no name and no text that would leave its line or that a terminal would obey", async () => {
    await configure({ mcpServers: { files: { command: "x" } } });
    const hidden = ["a\nb", "c\td", "e\u001b[31mf", "g\u202eh", "i\u2028j"];
    await saveTools("files", [
      ...hidden.map((name) => ({ name, description: "never" })),
      { name: "fine name", description: "one\u001b[31m\ntwo\u202e" },
      { name: "$(touch x)", inputSchema: { properties: { "a\nb": {}, "$(touch y)": {} } } },
    ]);
    const lines = await ask("call", "files/");
    expect(lines.map((line) => line.split("\t")[0])).toEqual([
      "files/fine name",
      "files/$(touch x)",
    ]);
    expect(lines.join("").replaceAll("\t", "")).not.toMatch(/\p{C}/u);
    expect(await ask("call", "files/$(touch x)", "")).toEqual(["$(touch y)=\t"]);
  });

  it.each([
    ["is broken", '{ "mcpServers": { "files": '],
    ["is invalid", '{ "mcpServers": { "files": 3 } }'],
  ])("says nothing of a configuration that %s, and still completes commands", async (_, text) => {
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "plugboard.json"), text);
    expect(await ask("status", "")).toEqual([]);
    expect(await ask("stat")).toEqual([expect.stringMatching(/^status\t/)]);
  });

  it("makes no directory where there is none, and knows the server that comes with Plugboard", async () => {
    expect(await ask("call", "")).toEqual(["demo/\t"]);
    expect(existsSync(home)).toBe(false);
  });
});
