// Checks how the files in src/ import each other: the layers of docs/architecture.md and no cycles between folders.
// `import type` and `import()` count too.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A folder imports from the lines below its own, and from itself. */
const LAYERS = [
  ["entry.ts", "index.ts"],
  ["page"],
  ["cli"],
  ["install"],
  ["openclaw"],
  ["agent"],
  ["serve", "adapters"],
  ["core"],
  ["util"],
];

/** The same inside the core. */
const CORE = [
  ["board"],
  ["config", "secrets", "auth", "upstream", "catalog", "tools", "guard"],
  ["net", "state", "redaction", "process"],
  ["types"],
];

/** Whoever is above the core reaches these through the board alone. */
const BEHIND_THE_BOARD = new Set(["upstream", "guard", "redaction", "secrets", "auth", "catalog"]);

/** The OpenClaw plugin runs in OpenClaw's process: it takes helpers and the framing of results from the host. */
const PLUGIN = join("openclaw", "plugin") + sep;
const FRAMING = join("core", "guard", "present") + sep;

/** The demo server runs in a process of its own: it shares only helpers with the host. */
const DEMO = join("cli", "demo", "server") + sep;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']/g;

/** Sentences, one for each thing that is wrong. */
export function findProblems(src) {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.tsx?$/.test(path),
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

/** The page runs in a browser: it shares helpers with the gateway, and what the two say to each other. */
const PAGE = "page" + sep;
const PAGE_WIRE = join("serve", "gateway", "page", "wire.ts");

function isAllowed({ from, to }) {
  if (from.startsWith(PAGE))
    return to.startsWith(PAGE) || to === PAGE_WIRE || part(to, 0) === "util";
  if (from.startsWith(DEMO) || to.startsWith(DEMO)) {
    return from.startsWith(DEMO) && (to.startsWith(DEMO) || part(to, 0) === "util");
  }
  if (to.startsWith(PLUGIN)) return from.startsWith(PLUGIN);
  if (from.startsWith(PLUGIN) && to.startsWith(FRAMING)) return true;
  const [folder, other] = [part(from, 0), part(to, 0)];
  if (folder !== other) {
    const isBehind = other === "core" && BEHIND_THE_BOARD.has(part(to, 1));
    return isAbove(LAYERS, folder, other) && !(isBehind && folder !== "index.ts");
  }
  if (folder !== "core") return true;
  return part(from, 1) === part(to, 1) || isAbove(CORE, part(from, 1), part(to, 1));
}

function isAbove(layers, folder, other) {
  const [layer, otherLayer] = [folder, other].map((each) =>
    layers.findIndex((line) => line.includes(each)),
  );
  return layer !== -1 && layer < otherLayer;
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
    if (path?.some((each) => !/\.tsx?$/.test(each))) cycles.add(path.join(", "));
  }
  const children = new Set(inside.map(({ from }) => childOf(from)));
  const folders = [...children].filter((each) => !/\.tsx?$/.test(each));
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

function part(path, index) {
  return path.split(sep)[index];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = findProblems(fileURLToPath(new URL("../src", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error("see the layers in docs/architecture.md");
  process.exitCode = problems.length > 0 ? 1 : 0;
}
