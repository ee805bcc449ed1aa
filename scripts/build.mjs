// Builds dist/ from the sources: in a folder beside it, which takes its place when all is done. A build that fails leaves what
// works.
//
//   --if-stale      only where dist/ is not made from the sources as they are
//   --if-possible   an install without dev dependencies has nothing to build with: that is no failure

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const stamp = join(dist, ".inputs");
const { exports, bin, version, engines } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

/** Everything that has a part in what the build makes. */
const INPUTS = [
  "src",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "scripts/build.mjs",
  "scripts/bundle.mjs",
];

/** What OpenClaw reads of a plugin before it loads the plugin's one module. */
const PLUGIN_FILES = ["README.md", "openclaw.plugin.json", "package.json"];

/** What is started by its path. */
const PROGRAMS = ["entry.js", "cli/demo/server/server.js"];

const isOptional = process.argv.includes("--if-stale");
const inputs = hashInputs();
const tsc = findTypeScript();
if (isOptional && isMadeFrom(inputs)) {
  // Nothing to do.
} else if (tsc !== undefined) {
  if (isOptional) console.error("plugboard: building, this takes 5 to 20 s");
  process.exitCode = await build(tsc);
} else if (process.argv.includes("--if-possible") || (isOptional && existsSync(dist))) {
  // What is there has to do.
} else {
  console.error("plugboard: TypeScript is not installed; run `npm ci` with dev dependencies first");
  process.exitCode = 1;
}

/** Resolves to the exit code. */
async function build(compiler) {
  const work = workFolder();
  try {
    const modules = join(work, "modules");
    const project = join(root, "tsconfig.build.json");
    const compiled = spawnSync(process.execPath, [compiler, "-p", project, "--outDir", modules], {
      stdio: "inherit",
    });
    if (compiled.status !== 0) return compiled.status ?? 1;
    const made = join(work, "dist");
    // Loaded here, since an install without dev dependencies does not have the bundler either.
    const { bundlePackage, bundleOpenClawPlugin } = await import("./bundle.mjs");
    const manifest = { version, engines };
    await bundlePackage({ root, modules, dist: made, entries: entries(), manifest });
    copyTypes(modules, made);
    await writeGrammar(modules, made);
    const plugin = join(made, "openclaw-plugin");
    await bundleOpenClawPlugin(root, join(plugin, "dist", "index.js"));
    for (const name of PLUGIN_FILES) {
      const text = readFileSync(join(root, "src", "openclaw", "plugin", name), "utf8");
      // The copy is one folder nearer to the docs.
      writeFileSync(join(plugin, name), text.replaceAll("](../../../docs/", "](../../docs/"));
    }
    for (const path of Object.values(bin).map(inDist)) {
      copyFileSync(join(modules, path), join(made, path));
      chmodSync(join(made, path), 0o755);
    }
    writeFileSync(join(made, ".inputs"), inputs);
    replace(dist, made, join(work, "old-dist"));
    return 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A folder that is gone when the process ends. Of a process that was killed there may be one left. */
function workFolder() {
  for (const name of readdirSync(root).filter((each) => /^\.build-\d+$/.test(each))) {
    if (!isAlive(Number(name.slice(".build-".length))))
      rmSync(join(root, name), { recursive: true });
  }
  const work = join(root, `.build-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  process.once("exit", () => rmSync(work, { recursive: true, force: true }));
  for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) {
    process.once(signal, () => process.exit(code));
  }
  return work;
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function replace(path, made, old) {
  if (existsSync(path)) renameSync(path, old);
  try {
    renameSync(made, path);
  } catch (error) {
    if (existsSync(old)) renameSync(old, path);
    throw error;
  }
}

/** The command, what package.json exports, and what is started by its path. */
function entries() {
  const exported = Object.values(exports).flatMap((entry) => entry.default ?? []);
  return exported.map(inDist).concat(PROGRAMS);
}

function inDist(path) {
  return relative("dist", path).replaceAll(sep, "/");
}

/** Those alone that a type of an export is made of. */
function copyTypes(modules, target) {
  const found = new Set();
  const add = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, from] of text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      add(resolve(dirname(file), from.replace(/\.[jt]s$/, ".d.ts")));
    }
  };
  for (const { types } of Object.values(exports)) {
    if (types !== undefined) add(join(modules, inDist(types)));
  }
  for (const file of found) {
    const copy = join(target, relative(modules, file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
}

/** What completing a word goes by: the commands as they describe themselves. */
async function writeGrammar(modules, target) {
  const file = join(modules, "cli", "describe-grammar.js");
  const { describeGrammar } = await import(pathToFileURL(file).href);
  writeFileSync(join(target, "grammar.json"), JSON.stringify(await describeGrammar()));
}

function isMadeFrom(hash) {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
}

/** By their contents: a checkout sets the time of every file. */
function hashInputs() {
  const hash = createHash("sha256");
  for (const path of INPUTS.flatMap(filesIn)) {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .toSorted();
}

function findTypeScript() {
  try {
    const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
    const entry = join(dirname(manifest), "bin", "tsc");
    return existsSync(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}
