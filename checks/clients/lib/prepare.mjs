// What must be there before anything can be tested: the clients in checks/clients/node_modules, the build.

import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What the lockfile says. `npm ci` would insist on native packages for every other system too, which the
 * lockfile does not have.
 */
const INSTALL = ["install", "--no-save", "--no-audit", "--no-fund"];

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ build }) {
  const who = "clients";
  if (!isInstalled(HERE))
    npm({ who, what: "installing the clients, about 1 GB", cwd: HERE }, INSTALL);
  if (build) npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
}
