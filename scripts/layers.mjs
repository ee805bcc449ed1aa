// Checks how the files in src/ import each other: the layers of docs/architecture.md, faces that stay apart,
// and no cycles between folders. `import type` and `import()` count too.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A folder imports from the lines below its own, and from itself. */
const LAYERS = [
  ["bin.ts", "index.ts"],
  ["faces"],
  ["agent", "endpoint", "channel"],
  ["board.ts", "board"],
  // oxfmt-ignore
  ["config", "secrets", "auth", "server", "catalog", "bridge", "guard", "registry", "bundle", "openclaw"],
  ["net", "state", "redaction", "process"],
  ["model"],
  ["util"],
];

/** Faces, endpoints and channels reach these through the board alone. */
const USES_THE_BOARD = new Set(["faces", "endpoint", "channel"]);
const BEHIND_THE_BOARD = new Set(["server", "guard", "redaction", "secrets", "auth", "catalog"]);

/** The demo server runs in a process of its own: it shares only helpers with the host. */
const SHARED_WITH_DEMO = "util";

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']/g;

/** Sentences, one for each thing that is wrong. */
export function findProblems(src) {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const imports = files.flatMap((from) => importsOf(src, from));
  const wrong = imports.filter((each) => !isAllowed(each));
  return [
    ...wrong.map(({ from, to }) => `${from} must not import ${to}`),
    ...cyclesIn("", imports).map((cycle) => `these import each other in a circle: ${cycle}`),
  ];
}

function importsOf(src, from) {
  const text = readFileSync(join(src, from), "utf8");
  return [...text.matchAll(IMPORT)].map(([, still, dynamic]) => ({
    from,
    to: relative(src, resolve(src, dirname(from), still ?? dynamic)),
  }));
}

function isAllowed({ from, to }) {
  const [folder, target] = [top(from), top(to)];
  if (folder === "demo" || target === "demo") {
    return folder === target || (folder === "demo" && target === SHARED_WITH_DEMO);
  }
  if (folder === "faces" && target === "faces") return isSameFace(from, to);
  if (folder === target || (folder === "board" && target === "board.ts")) return true;
  if (folder === "board.ts" && target === "board") return true;
  if (USES_THE_BOARD.has(folder) && BEHIND_THE_BOARD.has(target)) return false;
  const [layer, targetLayer] = [layerOf(folder), layerOf(target)];
  return layer !== -1 && layer < targetLayer;
}

/** The command line starts the ACP agent, the MCP server and the gateway; otherwise faces know nothing of each other. */
function isSameFace(from, to) {
  const [face, other] = [from.split(sep)[1], to.split(sep)[1]];
  return face === other || (face === "cli" && ["acp", "mcp", "gateway"].includes(other));
}

/** At each level, sub-folders must not need each other, or the files beside them, in a circle. */
function cyclesIn(folder, imports) {
  const inside = imports.filter(
    ({ from, to }) => folder === "" || [from, to].every((path) => path.startsWith(folder + sep)),
  );
  const childOf = (path) => join(folder, relative(folder, path).split(sep)[0]);
  const edges = new Map();
  for (const { from, to } of inside) {
    if (childOf(from) === childOf(to)) continue;
    edges.set(childOf(from), (edges.get(childOf(from)) ?? new Set()).add(childOf(to)));
  }
  const cycles = new Set();
  for (const start of edges.keys()) {
    const path = pathBack(start, edges);
    // Cycles of files alone are the linter's: two files may share types.
    if (path?.some((each) => !each.endsWith(".ts"))) cycles.add(path.join(", "));
  }
  const children = new Set(inside.map(({ from }) => childOf(from)));
  const folders = [...children].filter((each) => !each.endsWith(".ts"));
  return [...cycles, ...folders.flatMap((each) => cyclesIn(each, inside))];
}

/** The shortest way from a node back to itself. */
function pathBack(start, edges) {
  const queue = [[start]];
  const seen = new Set();
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const next of edges.get(path.at(-1)) ?? []) {
      if (next === start) return path;
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push([...path, next]);
    }
  }
  return undefined;
}

function top(path) {
  return path.split(sep)[0];
}

function layerOf(folder) {
  return LAYERS.findIndex((line) => line.includes(folder));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = findProblems(fileURLToPath(new URL("../src", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error("see the layers in docs/architecture.md");
  process.exitCode = problems.length > 0 ? 1 : 0;
}
