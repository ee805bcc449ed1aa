// Puts the modules of the command into a few files in dist/cli/: Node takes about half a millisecond for each file that
// it loads, and a command would load some two hundred. The library keeps its modules as they are.

import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";

/**
 * What the first module needs; what runs until a call to a running gateway is sent; what most other commands need. Each
 * becomes one file, with what it imports.
 */
const GROUPS = {
  first: ["util/system-problem.js", "util/version.js"],
  start: ["faces/cli/main.js", "faces/cli/call/call.js"],
  board: ["faces/cli/open.js", "board/core.js", "server/connect.js", "board/call-stages.js"],
};

const STATIC_IMPORT = /^(?:import|export)\b[^;'"]*?\bfrom\s*"(\.[^"]+)"|^import\s*"(\.[^"]+)"/gm;

/** `dist` is what tsc has written. Replaces `bin.js` in it. */
export async function bundleCommand(dist) {
  const chunks = join(dist, "cli");
  const bundle = await rolldown({
    input: join(dist, "bin.js"),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !id.startsWith(dist),
    plugins: [{ name: "place", transform: (code, id) => inPlace(code, relative(chunks, id)) }],
    onLog: (level, log) => {
      // Whatever is in one file is loaded at once, however it is imported.
      const isKnown = log.code === "INEFFECTIVE_DYNAMIC_IMPORT";
      if (level === "warn" && !isKnown) throw new Error(log.message);
    },
  });
  await bundle.write({
    dir: dist,
    format: "esm",
    entryFileNames: "bin.js",
    chunkFileNames: "cli/[name].js",
    codeSplitting: { groups: groupsOf(dist) },
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
}

/** A module looks for files relative to where tsc has put it. */
function inPlace(code, path) {
  if (!code.includes("import.meta.url")) return null;
  const place = `new URL(${JSON.stringify(path)}, import.meta.url).href`;
  return code.replaceAll("import.meta.url", place);
}

function groupsOf(dist) {
  const taken = new Set();
  return Object.entries(GROUPS).map(([name, roots], index) => {
    const own = new Set();
    for (const root of roots) addWithImports(join(dist, root), own, taken);
    own.forEach((file) => taken.add(file));
    return { name, test: (id) => own.has(id), priority: 10 - index };
  });
}

function addWithImports(file, own, taken) {
  if (own.has(file) || taken.has(file)) return;
  own.add(file);
  for (const [, from, bare] of readFileSync(file, "utf8").matchAll(STATIC_IMPORT)) {
    addWithImports(resolve(dirname(file), from ?? bare), own, taken);
  }
}
