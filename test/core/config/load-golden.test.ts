// What every configuration of the repository loads to: those of other applications, those that the pages and examples show,
// those of the docs' home directories, and those that `plugboard deploy` writes. The files in test/fixtures/loaded/ say what
// was loaded when a person last read them. Where a change is meant, run this with UPDATE_GOLDEN=1 and read the difference.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { gatewaySettings, loadGateway } from "../../../src/core/config/gateway.ts";
import { agentIdsIn, loadConfig, type LoadConfigOptions } from "../../../src/core/config/load.ts";
import { DEFAULT_AGENT } from "../../../src/core/types/agent-config.ts";
import { readDocument } from "../../../src/core/config/text/read.ts";
import { isJsonObject } from "../../../src/core/types/json.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { configurationIn, dataBlocks } from "../../docs/configurations.ts";
import { readPage } from "../../docs/page.ts";
import { allPages, root } from "../../docs/pages.ts";

interface Configuration {
  name: string;
  /** Where it is for whoever loads it: nothing is there, so nothing of this machine is in what is loaded. */
  file: string;
  text: string;
  /** The user's own file, which it lies over. */
  baseText?: string;
}

const GOLDEN = fileURLToPath(new URL("../../fixtures/loaded/", import.meta.url));
const HOME = "/home/me";
/** Where one of the configurations has servers of their own. */
const CWD = "/home/anna/shop";

const update = process.env["UPDATE_GOLDEN"] === "1";

function textAt(...path: string[]): string {
  return readFileSync(join(root, ...path), "utf8");
}

function filesIn(folder: string, isWanted: (path: string) => boolean): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter(isWanted)
    .toSorted();
}

function fromFiles(folder: string, isWanted: (path: string) => boolean): Configuration[] {
  return filesIn(folder, isWanted).map((path) => ({
    name: path,
    file: `${HOME}/${path}`,
    text: textAt(folder, path),
  }));
}

/** By their number on the page: its lines change more often. */
function shownOn(page: ReturnType<typeof readPage>): Configuration[] {
  return dataBlocks(page)
    .flatMap((block) => configurationIn(block) ?? [])
    .map(({ file, text }, index) => ({
      name: `${index + 1}: ${file}`,
      file: `${HOME}/${file}`,
      text,
    }));
}

const exampleDocs = ["examples/README.md", "examples/tsagent/README.md"];
const pages = [...allPages(), ...exampleDocs.map((path) => readPage(path, textAt(path)))];

const ownFiles = fromFiles("test/fixtures/configurations", (path) => path.endsWith(".json5"));
const usersFile = ownFiles.find(({ name }) => name === "user.json5");
const overUsers = ownFiles
  .filter(({ name }) => name === "project.json5" || name === "looser.json5")
  .map((each) => ({
    ...each,
    name: `${each.name} over user.json5`,
    baseText: usersFile?.text ?? "",
  }));

const groups: [string, Configuration[]][] = [
  ["configurations", [...ownFiles, ...overUsers]],
  [
    "foreign",
    fromFiles(
      "test/fixtures/foreign",
      (path) => path !== "README.md" && /\.(?:jsonc?|json5|toml)$/.test(path),
    ),
  ],
  ["homes", fromFiles("test/docs/homes", (path) => /(?:plugboard|mcp|settings)\.json$/.test(path))],
  ["deploy", fromFiles("test/fixtures/deploy", (path) => basename(path) === "plugboard.json")],
  ...pages
    .map((page): [string, Configuration[]] => [
      page.path.replace(/\.md$/, "").replaceAll("/", "-"),
      shownOn(page),
    ])
    .filter(([, shown]) => shown.length > 0),
];

async function loaded(configuration: Configuration): Promise<unknown> {
  const { file, text, baseText } = configuration;
  const options: LoadConfigOptions = {
    text,
    cwd: CWD,
    homedir: HOME,
    ...(baseText !== undefined && { base: `${HOME}/.plugboard/plugboard.json`, baseText }),
  };
  const ids = await valueOrProblem(() => agentIdsIn(file, options));
  const agents = [DEFAULT_AGENT, ...(Array.isArray(ids) ? ids.map(String) : [])];
  const loadedAgents = agents.map(async (id) => [
    id,
    await valueOrProblem(() => loadConfig(file, id, options)),
  ]);
  return {
    agents: Object.fromEntries(await Promise.all(loadedAgents)),
    gateway: await valueOrProblem(async () => {
      const { settings, ...rest } = await loadGateway(file, options);
      return { ...rest, settings: unlikeDefaults(settings) };
    }),
  };
}

/** The defaults of a gateway are a file of their own, and not repeated in all others. */
function unlikeDefaults(settings: object): object {
  const defaults = gatewaySettings() as unknown as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[key]),
    ),
  );
}

async function valueOrProblem(load: () => Promise<unknown>): Promise<unknown> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return { refused: error.code, message: error.message, problems: error.problems };
  }
}

/** As JSON has it. Throws for what JSON would lose: then this has to know it. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (key, each: unknown) => {
    const isData =
      each === null ||
      typeof each !== "object" ||
      Array.isArray(each) ||
      Object.getPrototypeOf(each) === Object.prototype ||
      Object.getPrototypeOf(each) === null;
    if (!isData || typeof each === "function") throw new Error(`${key} is no data`);
    return typeof each === "number" && !Number.isFinite(each) ? String(each) : each;
  });
  return JSON.parse(text);
}

function compare(name: string, now: unknown): void {
  const file = join(GOLDEN, `${name}.json`);
  if (update) writeFileSync(file, `${JSON.stringify(now, undefined, 1)}\n`);
  expect(now).toEqual(JSON.parse(readFileSync(file, "utf8")));
}

function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...keysIn(each)]);
}

/** The keys that a JSON Schema describes, anywhere in it. */
function propertiesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(propertiesIn);
  if (!isJsonObject(schema)) return [];
  const { properties } = schema;
  const own = isJsonObject(properties) ? Object.keys(properties) : [];
  return [...own, ...Object.values(schema).flatMap(propertiesIn)];
}

if (update) {
  rmSync(GOLDEN, { recursive: true, force: true });
  mkdirSync(GOLDEN, { recursive: true });
}

it.each(groups)("%s", async (name, configurations) => {
  const entries = configurations.map(async (each) => [each.name, await loaded(each)]);
  compare(name, plain(Object.fromEntries(await Promise.all(entries))));
});

it("the settings of a gateway that nobody has configured", () => {
  compare("gateway-defaults", plain(gatewaySettings()));
});

it("every key of the schema is in one of them", async () => {
  const documents = await Promise.all(ownFiles.map(({ file, text }) => readDocument(file, text)));
  const keys = new Set(documents.flatMap(({ value }) => keysIn(value)));
  const schema: unknown = JSON.parse(textAt("plugboard.schema.json"));
  const missing = propertiesIn(schema).filter((key) => !keys.has(key));
  expect([...new Set(missing)]).toEqual([]);
});

it("every golden file is of something that there is", () => {
  const known = [...groups.map(([name]) => `${name}.json`), "gateway-defaults.json"];
  expect(readdirSync(GOLDEN).toSorted()).toEqual(known.toSorted());
});
