// What must be there before anything can be measured: the peers in bench/node_modules, the build.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isInstalled, npm, step } from "../../scripts/own-packages.mjs";

const BENCH = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ needsBuild }) {
  const who = "bench";
  if (!isInstalled(BENCH)) npm({ who, what: "installing the peers", cwd: BENCH }, ["ci"]);
  if (needsBuild && !(existsSync(`${ROOT}dist/index.js`) && existsSync(`${ROOT}dist/bin.js`))) {
    const task = { who, what: "building the project", cwd: ROOT };
    step(task, process.execPath, ["scripts/build.mjs"]);
  }
}
