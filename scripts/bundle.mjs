// Puts the modules of the command into a few files in dist/command/, and those of the library into a few in dist/lib/: Node
// takes about half a millisecond for each file that it loads, and a command or a board would load some two hundred.

import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { rolldown } from "rolldown";

/**
 * What the first module needs, and what both a call and completion need; what completes a word; the small program of a
 * session; what runs until a call to a running gateway is sent; what can be typed in other command lines; what most
 * other commands need; what starts servers and calls them; the list of tools. Each becomes one file, with what it imports.
 */
const COMMAND_GROUPS = {
  first: [
    "util/system-problem.js",
    "util/version.js",
    "util/first-line.js",
    "core/config/find.js",
    "cli/io.js",
    "core/state/json-file.js",
  ],
  completion: ["cli/completion/complete.js"],
  attached: ["cli/serve/attached.js"],
  start: ["cli/main.js", "cli/call/call.js"],
  commands: ["cli/command-groups.js", "cli/mistakes.js", "cli/help/command-page.js"],
  board: ["cli/open.js", "core/board/core.js", "core/process/reap-orphans.js"],
  server: ["core/upstream/connect.js", "core/board/call-stages.js"],
  tools: ["cli/tools/tools.js"],
};
/** Those that are done before a board would have been loaded. */
const QUICK = new Set(["first", "completion", "attached", "start"]);

/** What every board needs to start its servers and to call them. */
const LIBRARY_GROUPS = {
  board: [
    "index.js",
    "core/upstream/connect.js",
    "core/process/reap-orphans.js",
    "core/board/call-stages.js",
  ],
};

const STATIC_IMPORT = /^(?:import|export)\b[^;'"]*?\bfrom\s*"(\.[^"]+)"|^import\s*"(\.[^"]+)"/gm;

/** `dist` is what tsc has written. Replaces `bin.js` in it. */
export async function bundleCommand(dist) {
  const groups = groupsOf(COMMAND_GROUPS, dist);
  const quick = groups.filter(({ name }) => QUICK.has(name));
  await bundle({ dist, entries: ["bin.js"], folder: "command", groups, quick });
}

/** Replaces the modules that `exports` in package.json names, all at once: they share what they import. */
export async function bundleLibrary(dist, exports) {
  const entries = Object.values(exports)
    .map((entry) => entry.default)
    .filter((path) => path !== undefined)
    .map((path) => relative("dist", path));
  const groups = groupsOf(LIBRARY_GROUPS, dist);
  await bundle({ dist, entries, folder: "lib", groups, quick: [] });
}

async function bundle({ dist, entries, folder, groups, quick }) {
  const chunks = join(dist, folder);
  const isQuick = (file) => quick.some(({ files }) => files.has(file));
  const bundling = await rolldown({
    input: Object.fromEntries(
      entries.map((entry) => [entry.replace(/\.js$/, ""), join(dist, entry)]),
    ),
    platform: "node",
    external: (id, importer) =>
      id.startsWith("node:") ? !isQuick(importer) : !/^[./\0]/.test(id) && !id.startsWith(dist),
    plugins: [
      { name: "place", transform: (code, id) => inPlace(code, relative(chunks, id)) },
      quickBuiltins(quick),
    ],
    onLog: (level, log) => {
      // Whatever is in one file is loaded at once, however it is imported.
      const isKnown = log.code === "INEFFECTIVE_DYNAMIC_IMPORT";
      if (level === "warn" && !isKnown) throw new Error(log.message);
    },
  });
  await bundling.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${folder}/[name].js`,
    codeSplitting: {
      groups: groups.map(({ name, files, priority }) => ({
        name,
        priority,
        test: (id) => files.has(id) || id.startsWith(virtual(name)),
      })),
    },
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundling.close();
}

/** A module looks for files relative to where tsc has put it. */
function inPlace(code, path) {
  if (!code.includes("import.meta.url")) return null;
  const place = `new URL(${JSON.stringify(path)}, import.meta.url).href`;
  return code.replaceAll("import.meta.url", place);
}

function groupsOf(roots, dist) {
  const taken = new Set();
  return Object.entries(roots).map(([name, modules], index) => {
    const own = new Set();
    for (const root of modules) addWithImports(join(dist, root), own, taken);
    own.forEach((file) => taken.add(file));
    return { name, files: own, priority: 10 - index };
  });
}

function addWithImports(file, own, taken) {
  if (own.has(file) || taken.has(file)) return;
  own.add(file);
  for (const [, from, bare] of readFileSync(file, "utf8").matchAll(STATIC_IMPORT)) {
    addWithImports(resolve(dirname(file), from ?? bare), own, taken);
  }
}

/** A group has its own, so that none is loaded for the sake of another. */
function virtual(group) {
  return `\0plugboard-${group}-`;
}

/** A call to a running gateway needs none of their functions. */
const RARELY_USED = new Set(["node:fs/promises", "node:module", "node:util"]);

/**
 * An import of one of Node's modules makes a module object with everything in it, for which Node loads its streams,
 * its cryptography and more. Asking for the same by a call does not.
 */
function quickBuiltins(groups) {
  return {
    name: "builtins",
    resolveId(id, importer) {
      const group = id.startsWith("node:") && groups.find(({ files }) => files.has(importer));
      return group ? `${virtual(group.name)}${id}` : null;
    },
    load(id) {
      const group = groups.find(({ name }) => id.startsWith(virtual(name)));
      if (group === undefined) return null;
      const from = id.slice(virtual(group.name).length);
      const names = namesFrom(from, group.files);
      const builtin = `process.getBuiltinModule("${from}")`;
      if (!RARELY_USED.has(from)) return `export const { ${names.join(", ")} } = ${builtin};`;
      return names
        .map((name) => `export const ${name} = (...args) => ${builtin}.${name}(...args);`)
        .join("\n");
    },
  };
}

/** What these files import from one of Node's modules. */
function namesFrom(builtin, files) {
  const pattern = new RegExp(`^import\\s*\\{([^}]*)\\}\\s*from\\s*"${builtin}"`, "gm");
  const lists = [...files].flatMap((file) => [...readFileSync(file, "utf8").matchAll(pattern)]);
  const names = lists.flatMap(([, list]) =>
    list.split(",").map((each) => each.trim().split(/\s+as\s+/)[0]),
  );
  return [...new Set(names)].filter(Boolean);
}
