// Puts what tsc has written into few files, for the command and the library together: Node takes about half a millisecond
// for each file that it loads, and a command or a board would load some two hundred. The OpenClaw plugin is a file by itself.

import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/** Where the files are that several entries share. */
const SHARED = "shared";

/** What every board of the library needs to start its servers and to call them. */
const LIBRARY = [
  "index.js",
  "core/upstream/connect.js",
  "core/process/reap-orphans.js",
  "core/board/call-stages.js",
];

const START = ["cli/main.js", "cli/call/call.js"];
const OPEN = [
  "cli/open.js",
  "core/board/core.js",
  "core/process/reap-orphans.js",
  // Of all that starts servers, the library needs this at once.
  "util/passing-map.js",
];

/**
 * Each becomes one file: the modules that it names, and what they import, without what is in a file before it. With
 * `ofLibrary` it has those alone that the library loads too, so that neither loads anything for the sake of the other.
 * `packages` become part of it. With `isQuick` it is done before a board would have been loaded.
 */
const GROUPS = [
  {
    // What the first module needs, and what both a call and completion need.
    name: "first",
    isQuick: true,
    modules: [
      "util/environment.js",
      "util/system-problem.js",
      "util/version.js",
      "util/first-line.js",
      "core/config/find.js",
      "core/state/json-file.js",
    ],
  },
  // What completes a word.
  { name: "completion", isQuick: true, modules: ["cli/completion/complete.js"] },
  // The small program of a session.
  { name: "session-program", isQuick: true, modules: ["cli/serve/session-program.js"] },
  // What runs until a call to a running gateway is sent.
  { name: "basis", isQuick: true, ofLibrary: true, modules: START },
  { name: "start", isQuick: true, modules: START },
  // How wide a text is, for a terminal.
  {
    name: "width",
    modules: ["cli/terminal/width.js"],
    packages: ["get-east-asian-width"],
  },
  // What can be typed in other command lines.
  {
    name: "commands",
    modules: ["cli/command-groups.js", "cli/mistakes.js", "cli/help/command-page.js"],
  },
  // What most other commands need.
  { name: "board", ofLibrary: true, modules: OPEN, packages: ["ipaddr.js"] },
  { name: "open", modules: OPEN },
  // What starts servers and calls them.
  { name: "server", modules: ["core/upstream/connect.js", "core/board/call-stages.js"] },
  // What else a program gets with the library.
  { name: "library", modules: ["index.js"] },
  // What the adapters share.
  {
    name: "adapters",
    modules: [
      "adapters/board-tools.js",
      "adapters/agent-tool.js",
      "core/tools/ai-sdk-content.js",
      "core/tools/without-patterns.js",
    ],
  },
  // The list of tools.
  { name: "tools", modules: ["cli/tools/tools.js"] },
  // What checks an output: the package has 78 files.
  { name: "validator", modules: ["core/guard/output/compile.js"], packages: ["ajv"] },
  // What sends requests. Of a CommonJS package, Node reads the text before it runs it, which takes ten times as long.
  { name: "http-client", modules: ["core/net/dispatchers.js"], packages: ["undici/lib"] },
];

const STATIC_IMPORT = /^(?:import|export)\b[^;'"]*?\bfrom\s*"(\.[^"]+)"|^import\s*"(\.[^"]+)"/gm;

/**
 * `root` is the repository, `modules` the folder that tsc has written, `entries` are paths in it; in `dist` they keep their names. The manifest is
 * the package's.
 */
export async function bundlePackage({ root, modules, dist, entries, manifest }) {
  const groups = groupsIn(modules);
  const bundling = await rolldown({
    // Names in the files are relative to it.
    cwd: modules,
    input: Object.fromEntries(
      entries.map((entry) => [entry.replace(/\.js$/, ""), join(modules, entry)]),
    ),
    platform: "node",
    transform: writtenIn(manifest),
    // It does what `withoutFacades` does, with one more file for every command to load.
    experimental: { chunkOptimization: false },
    external: (id, importer) => staysImport(id, importer, { modules, groups }),
    plugins: [inPlace(modules), packageBuiltins(), quickBuiltins(groups), withoutFacades()],
    onLog: failOnWarning,
  });
  const { output } = await bundling.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${SHARED}/[name].js`,
    codeSplitting: {
      groups: groups.map(({ name, files, packages }, index) => ({
        name,
        priority: groups.length - index,
        test: (id) =>
          files.has(id) || id.startsWith(virtual(name)) || packages.some((each) => isOf(each, id)),
      })),
    },
    comments: COMMENTS,
  });
  await bundling.close();
  const warm = await bundleWarmCall(modules, manifest);
  const page = await bundlePage(root, join(dist, "ui"));
  writeFileSync(join(dist, "warm-call.cjs"), warm.code);
  writeFileSync(join(dist, "THIRD-PARTY.txt"), licences([...output, warm, page]));
}

/** What `cli/warm-call.ts` does not need; it finds out before that the call goes another way. */
const NOT_WARM = [
  "cli/open.js",
  "cli/command-groups.js",
  "cli/mistakes.js",
  "cli/help/command-page.js",
  "cli/status/overview.js",
  "cli/tools/tools.js",
];

/**
 * A call to a running gateway, as one CommonJS file that needs no other: Node loads it in half the time that it takes for
 * modules, and `bin.cts` has it compiled from before.
 */
async function bundleWarmCall(modules, manifest) {
  const others = new Set(NOT_WARM.map((path) => join(modules, path)));
  const bundling = await rolldown({
    cwd: modules,
    input: join(modules, "cli", "warm-call.js"),
    platform: "node",
    transform: writtenIn(manifest),
    external: [/^node:/, "@humanwhocodes/momoa"],
    plugins: [
      {
        name: "others",
        load: (id) => (others.has(id) ? `throw new Error("not for a warm call");` : null),
      },
      inPlace(modules),
    ],
    onLog(level, log) {
      // Nobody gets to what such a module would have.
      if (log.code !== "IMPORT_IS_UNDEFINED") failOnWarning(level, log);
    },
  });
  const { output } = await bundling.generate({
    format: "cjs",
    codeSplitting: false,
    comments: COMMENTS,
  });
  await bundling.close();
  // V8 cannot import on behalf of a script that it has not compiled.
  const script = output[0].code.replace(/\bimport\(("[^"]+")\)/g, "Promise.resolve(require($1))");
  const code = withLateImports(script);
  if (/\\\P{ASCII}/u.test(code)) throw new Error("a backslash before what is not ASCII");
  // V8 reads a text of one byte for each character in half the time.
  return { ...output[0], code: code.replace(/\P{ASCII}/gu, escaped) };
}

/** Node's modules and packages are loaded where they are used first: most calls do without most of them. */
function withLateImports(code) {
  const names = new Map();
  const rest = code.replace(/^let (\w+) = require\("([^"]+)"\);\n/gm, (_, name, id) => {
    names.set(name, id);
    return "";
  });
  return rest.replace(/\b(\w+)\./g, (whole, name) =>
    names.has(name) ? `require("${names.get(name)}").` : whole,
  );
}

function escaped(character) {
  return character.replace(
    /[^]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function writtenIn(manifest) {
  return { define: { PLUGBOARD_MANIFEST: JSON.stringify(manifest) } };
}

/**
 * With what it uses of src/, it needs neither Plugboard's package nor any other beside it: OpenClaw copies a plugin's folder
 * to its own place.
 */
export async function bundleOpenClawPlugin(root, file) {
  const bundling = await rolldown({
    cwd: root,
    input: join(root, "src", "openclaw", "plugin", "index.ts"),
    platform: "node",
    external: /^node:/,
    onLog: failOnWarning,
  });
  await bundling.write({ file, format: "esm", codeSplitting: false, comments: COMMENTS });
  await bundling.close();
}

/**
 * The page of a gateway: a document, one script and one sheet, named after their content and compressed here, so that the
 * gateway only passes them on.
 */
async function bundlePage(root, folder) {
  const source = join(root, "src", "page");
  const bundling = await rolldown({
    cwd: source,
    input: join(source, "main.tsx"),
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    onLog: failOnWarning,
  });
  const { output } = await bundling.generate({
    format: "esm",
    minify: true,
    codeSplitting: false,
    comments: COMMENTS,
  });
  await bundling.close();
  const read = (name) => readFileSync(join(source, name), "utf8");
  const files = new Map([
    ["main.js", output[0].code],
    ["page.css", withoutComments(read("page.css"))],
    ["icon.svg", readFileSync(join(root, "icon.svg"), "utf8")],
  ]);
  mkdirSync(folder, { recursive: true });
  let page = read("index.html");
  for (const [name, text] of files) {
    const hashed = name.replace(".", `-${hash("sha256", text).slice(0, 12)}.`);
    page = page.replaceAll(`"${name}"`, `"${hashed}"`);
    writeCompressed(join(folder, hashed), text);
  }
  writeCompressed(join(folder, "index.html"), page);
  return output[0];
}

function withoutComments(sheet) {
  return sheet.replace(/\/\*[^]*?\*\//g, "").replace(/\n\s*/g, "\n");
}

/** Of RFC 1952. */
const UNKNOWN_SYSTEM = 255;

function writeCompressed(file, text) {
  writeFileSync(file, text);
  const zipped = gzipSync(text, { level: 9 });
  // The header names the system that it was made on: a build is the same on all of them.
  zipped[9] = UNKNOWN_SYSTEM;
  writeFileSync(`${file}.gz`, zipped);
  writeFileSync(`${file}.br`, brotliCompressSync(text));
}

const COMMENTS = { legal: true, annotation: false, jsdoc: false };

function failOnWarning(level, { code, message }) {
  // Whatever is in one file is loaded at once, however it is imported.
  const isKnown = code === "INEFFECTIVE_DYNAMIC_IMPORT";
  if (level === "warn" && !isKnown) throw new Error(message);
}

function groupsIn(modules) {
  const ofLibrary = withImports(LIBRARY.map((module) => join(modules, module)));
  const taken = new Set();
  return GROUPS.map((group) => {
    const all = withImports(
      group.modules.map((module) => join(modules, module)),
      taken,
    );
    const files = group.ofLibrary ? new Set([...all].filter((file) => ofLibrary.has(file))) : all;
    files.forEach((file) => taken.add(file));
    return { packages: [], ...group, files };
  });
}

function withImports(roots, taken = new Set()) {
  const found = new Set();
  const add = (file) => {
    if (found.has(file) || taken.has(file)) return;
    found.add(file);
    for (const [, from, bare] of readFileSync(file, "utf8").matchAll(STATIC_IMPORT)) {
      add(resolve(dirname(file), from ?? bare));
    }
  };
  roots.forEach(add);
  return found;
}

/** Whether it stays an import. What a bundled package imports comes along. */
function staysImport(id, importer, { modules, groups }) {
  if (id.startsWith("node:"))
    return !groups.some((each) => each.isQuick && each.files.has(importer));
  if (/^[.\0]/.test(id) || isAbsolute(id)) return false;
  if (importer !== undefined && !importer.startsWith(modules)) return false;
  return !groups.some(({ packages }) => packages.some((name) => `${id}/`.startsWith(`${name}/`)));
}

/** Whether a file belongs to a package. */
function isOf(name, file) {
  return file.replaceAll(sep, "/").includes(`/node_modules/${name}/`);
}

const PLACE = "plugboard-place:";

/** A module looks for files relative to where tsc would have put it in `dist`. */
function inPlace(modules) {
  return {
    name: "place",
    transform(code, id) {
      if (!id.startsWith(modules) || !code.includes("import.meta.url")) return null;
      const path = relative(modules, id).replaceAll(sep, "/");
      // As webpack reads it, `new URL` would be a file to be bundled.
      const place = `String(import.meta.url).replace(/[^/]*$/, ${JSON.stringify(`${PLACE}${path}`)})`;
      return code.replaceAll("import.meta.url", place);
    },
    renderChunk(code, { fileName }) {
      const toDist = "../".repeat(fileName.split("/").length - 1) || "./";
      return code.includes(PLACE) ? code.replaceAll(PLACE, toDist) : null;
    },
  };
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
function quickBuiltins(all) {
  const groups = all.filter(({ isQuick }) => isQuick);
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

/** In a module there is no `require` for a package, and a program that bundles Plugboard has no place to make one for. */
function packageBuiltins() {
  return {
    name: "package builtins",
    transform(code, id) {
      if (!/[\\/]node_modules[\\/]/.test(id)) return null;
      return code.replace(/\brequire\((["']node:[\w/]+["'])\)/g, "process.getBuiltinModule($1)");
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

const FACADE = /^export \{ ([^}]+) \} from "(\.[^"]+)";\s*$/;

/**
 * A module that is loaded on demand and is in the file of a group gets a file beside it that has nothing but its exports.
 * Whoever loads it takes them from the file of the group instead.
 */
function withoutFacades() {
  return {
    name: "facades",
    generateBundle(_, output) {
      const chunks = Object.values(output).filter(({ type }) => type === "chunk");
      const facades = new Map();
      for (const { fileName, code, isEntry } of chunks) {
        const [, names, from] = isEntry ? [] : (FACADE.exec(code) ?? []);
        if (names !== undefined) facades.set(fileName, { names, file: pathFrom(fileName, from) });
      }
      for (const chunk of chunks) {
        chunk.code = chunk.code.replace(/\bimport\("(\.[^"]+)"\)/g, (whole, path) => {
          const facade = facades.get(pathFrom(chunk.fileName, path));
          if (facade === undefined) return whole;
          const folder = posix.dirname(chunk.fileName);
          const file = posix.relative(folder, facade.file).replace(/^(?!\.)/, "./");
          return `import("${file}").then((file) => ({ ${membersOf("file", facade.names)} }))`;
        });
      }
      for (const name of facades.keys()) delete output[name];
    },
  };
}

function pathFrom(file, path) {
  return posix.join(posix.dirname(file), path);
}

/** For `t as runCli, n`: `runCli: file.t, n: file.n`. */
function membersOf(object, names) {
  return names
    .split(", ")
    .map((each) => each.split(" as "))
    .map(([local, exported = local]) => `${exported}: ${object}.${local}`)
    .join(", ");
}

/** The licences of packages go with their code. */
function licences(files) {
  const ids = files.flatMap((file) => Object.keys(file.modules ?? {}));
  const folders = ids.flatMap(
    (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? [],
  );
  const texts = [...new Set(folders)]
    .toSorted((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
      return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    });
  return `Packages whose code is in files of this folder.\n\n${texts.join("\n---\n\n")}`;
}
