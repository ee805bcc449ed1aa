// What must be there before anything can be measured: the peers in checks/bench/node_modules, the build.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, npm, step } from "../../lib/own-packages.mjs";

const BENCH = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ needsBuild }) {
  const who = "bench";
  if (!isInstalled(BENCH)) npm({ who, what: "installing the peers", cwd: BENCH }, ["ci"]);
  if (needsBuild && !(existsSync(`${ROOT}dist/index.js`) && existsSync(`${ROOT}dist/bin.cjs`))) {
    const task = { who, what: "building the project", cwd: ROOT };
    step(task, process.execPath, ["scripts/build.mjs"]);
  } else if (needsBuild) {
    warnOfOldBuild();
  }
}

/** Somebody may mean to measure it, so it is measured. */
export function warnOfOldBuild(root = ROOT, warn = console.error) {
  const built = statSync(join(root, "dist", "index.js")).mtimeMs;
  const isNewer = (entry) =>
    entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > built;
  const options = { recursive: true, withFileTypes: true };
  if (!readdirSync(join(root, "src"), options).some(isNewer)) return;
  warn("bench: src/ is newer than dist/, so this measures an old build; run `npm run build` first");
}
