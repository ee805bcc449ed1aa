// What must be there before anything can be tested: the agents in checks/agents/node_modules, the build.

import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const TSAGENT = fileURLToPath(new URL("../../../examples/tsagent/", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What the lockfile says. `npm ci` would insist on native packages for every other system too, which the
 * lockfile does not have.
 */
const INSTALL = ["install", "--no-save", "--no-audit", "--no-fund"];

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ build }) {
  const who = "agents";
  if (!isInstalled(HERE))
    npm({ who, what: "installing the agents, about 1.5 GB", cwd: HERE }, INSTALL);
  if (!isInstalled(TSAGENT)) {
    // Its scripts would fetch and build models that no check needs.
    const install = [...INSTALL, "--ignore-scripts"];
    npm({ who, what: "installing tsagent, about 1 GB", cwd: TSAGENT }, install);
  }
  if (build) npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
}
