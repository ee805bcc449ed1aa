// What must be there before anything can be tested: OpenClaw in checks/openclaw/node_modules, the build.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../../lib/own-packages.mjs";
import { NODE } from "./openclaw.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What the lockfile says. `npm ci` would insist on native packages for every other system too, which the
 * lockfile does not have. Scripts are left out: OpenClaw's own need the newer Node that is only being installed.
 */
const INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
/** Its script fetches the Node for this system. */
const FETCH_NODE = ["rebuild", "node24", "--ignore-scripts=false"];

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ build }) {
  const who = "openclaw";
  if (!isInstalled(HERE)) {
    npm({ who, what: "installing OpenClaw, about 900 MB", cwd: HERE }, INSTALL);
  }
  if (!existsSync(NODE)) npm({ who, what: "fetching a newer Node", cwd: HERE }, FETCH_NODE);
  if (build) npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
}
