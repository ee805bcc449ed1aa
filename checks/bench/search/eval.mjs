// How well and how fast tools are found: `npm run eval:search [-- <folder>]`, after `npm run build`.
//
// A folder has questions in single.json and multi.json, as [{ query, tools }], and may have its tools in tools.json, as
// [{ name, description }], or the servers of test/fixtures/definitions/ that they are about in servers.json. Without a folder: our
// own questions in this one, about the servers in the dev dependencies. Nothing may be tuned for those in unseen/.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBoard } from "../../../dist/index.js";
import { importSource } from "../../../scripts/sources.mjs";

const { definitionTokens } = await importSource("core/tools/definition-tokens.ts");
const { ToolIndex } = await importSource("core/catalog/search/tool-index.ts");

const PLACES = [1, 5, 10];
const SIZES = [500, 661, 3000];
const ROUNDS = 5;
const require = createRequire(import.meta.url);

const own = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] ?? own;
if (!existsSync(join(folder, "single.json")) && !existsSync(join(folder, "multi.json"))) {
  console.error(
    `${folder} has no questions: expected single.json or multi.json, as [{ query, tools }]`,
  );
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), "plugboard-eval-"));

const board = existsSync(join(folder, "tools.json"))
  ? await listed(read(join(folder, "tools.json")))
  : existsSync(join(folder, "servers.json"))
    ? await listed(definedBy(read(join(folder, "servers.json"))))
    : await real();
try {
  const tools = board.tools();
  console.log(`${tools.length} tools, ${tokensOf(tools)} tokens\n`);
  console.log(
    `| questions | ${PLACES.map((place) => `@${place}`).join(" | ")} | tokens of 10 hits |`,
  );
  console.log(`| --- | ${PLACES.map(() => "---").join(" | ")} | --- |`);
  const asked = [];
  for (const name of ["single", "multi"]) {
    const file = join(folder, `${name}.json`);
    if (!existsSync(file)) continue;
    const questions = read(file);
    asked.push(...questions.map(({ query }) => query));
    console.log(`| ${questions.length} ${name} | ${await recall(questions)} |`);
  }
  console.log("");
  for (const size of SIZES) console.log(speed(size, tools, asked));
} finally {
  await board.close();
  rmSync(scratch, { recursive: true });
}

function read(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** What these servers say about their tools, each name once. */
function definedBy(servers) {
  const file = new URL("../../../test/fixtures/definitions/reputable.jsonl", import.meta.url);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const tools = lines
    .map((line) => JSON.parse(line))
    .filter(([server, , name]) => servers.includes(server) && /^[a-z]/i.test(name))
    .map(([, , name, ...texts]) => [name, { name, description: texts.join("\n") }]);
  return [...new Map(tools.toReversed()).values()];
}

/** As native tools: what a search makes of them is the same. */
function listed(tools) {
  const native = tools.map(({ name, description }) => ({
    name: safe(name),
    description,
    parameters: { type: "object" },
    execute: () => ({ content: [] }),
  }));
  return openBoard({ servers: {} }, { native });
}

function real() {
  const server = (name, ...args) => {
    const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
    const [entry] = Object.values(require(manifest).bin);
    return { command: process.execPath, args: [join(dirname(manifest), entry), ...args] };
  };
  return openBoard({
    servers: {
      everything: server("everything"),
      filesystem: server("filesystem", scratch),
      memory: { ...server("memory"), env: { MEMORY_FILE_PATH: join(scratch, "memory.jsonl") } },
    },
  });
}

function safe(name) {
  return name.includes("/") ? name : name.replace(/[^A-Za-z0-9_-]/g, "_");
}

function nameOf({ name, source }) {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}

/** How many of the right tools are among the first, as a share. */
async function recall(questions) {
  const found = new Map(PLACES.map((place) => [place, 0]));
  let wanted = 0;
  let tokens = 0;
  for (const { query, tools } of questions) {
    // Also among tools that no model gets: how they are ranked is the question here.
    const hits = await board.search(query, { limit: Math.max(...PLACES), all: true });
    tokens += tokensOf(hits.map(({ tool }) => tool));
    const names = hits.map(({ tool }) => nameOf(tool));
    wanted += tools.length;
    for (const place of PLACES) {
      const first = new Set(names.slice(0, place));
      const right = tools.filter((tool) => first.has(safe(tool))).length;
      found.set(place, found.get(place) + right);
    }
  }
  const shares = [...found.values()].map((each) => (each / wanted).toFixed(3));
  return [...shares, Math.round(tokens / questions.length)].join(" | ");
}

function tokensOf(tools) {
  return definitionTokens(tools);
}

/** Of as many tools, made of these. The best of several rounds, each with definitions that nobody has read yet. */
function speed(size, tools, questions) {
  const fresh = (at) => {
    const {
      name,
      description,
      ownDescription = description,
      parameters,
    } = tools[at % tools.length];
    const source = { kind: "mcp", server: `s${at % 40}`, tool: `${name}_${at}` };
    return { name: source.tool, ownDescription, parameters: structuredClone(parameters), source };
  };
  const best = { index: Infinity, update: Infinity, search: Infinity };
  const keep = (figure, value) => {
    best[figure] = Math.min(best[figure], value);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const index = new ToolIndex();
    const many = Array.from({ length: size }, (_, at) => fresh(at));
    const changed = many.map((tool, at) => (at < 30 ? fresh(at) : tool));
    keep(
      "index",
      time(() => index.update(many)),
    );
    keep(
      "update",
      time(() => index.update(changed)),
    );
    const rank = (question) => time(() => index.rank(question, 10, () => true));
    const times = questions
      .slice(0, 500)
      .map(rank)
      .sort((a, b) => a - b);
    keep("search", times[Math.floor(times.length / 2)]);
  }
  const { index, update, search } = best;
  return `${size} tools: index ${index.toFixed(0)} ms, 30 of them changed ${update.toFixed(1)} ms, median search ${search.toFixed(2)} ms`;
}

function time(task) {
  const began = performance.now();
  task();
  return performance.now() - began;
}
