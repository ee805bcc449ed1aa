// What must be there before anything can be tested: the suite in checks/conformance/node_modules, the build.

import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ build }) {
  const who = "conformance";
  if (!isInstalled(HERE)) npm({ who, what: "installing the suite", cwd: HERE }, ["ci"]);
  if (build) npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
}
