// `npm run e2e:sdks`: the adapters in AI SDK 7 and `openai` 7. The tests of the project have the versions before them,
// because these need Node 22. Fails where a loop does not end as it should, or the types do not fit.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isInstalled, npm, step } from "../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
const FETCH_NODE = ["rebuild", "node24", "--ignore-scripts=false"];
const NODE = `${HERE}node_modules/node24/bin/node`;

const who = "sdks";
try {
  if (!isInstalled(HERE)) npm({ who, what: "installing the SDKs", cwd: HERE }, INSTALL);
  if (!existsSync(NODE)) npm({ who, what: "fetching a newer Node", cwd: HERE }, FETCH_NODE);
  if (!process.argv.includes("--no-build")) {
    npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
  }
  const tsc = `${ROOT}node_modules/typescript/bin/tsc`;
  step({ who, what: "checking the types", cwd: HERE }, process.execPath, [tsc, "-p", HERE]);
  step({ who, what: "running the loops", cwd: HERE }, NODE, [`${HERE}loops.mjs`]);
} catch (error) {
  process.stderr.write(`${who}: ${error.message}\n`);
  process.exitCode = 1;
}
