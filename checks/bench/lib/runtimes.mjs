// The versions of Node to measure on: the one that runs the bench, and Node 24 from npm.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const NODE_24 = fileURLToPath(new URL("../node_modules/node24/bin/node", import.meta.url));

/** `wanted` is a major version or "both". Throws where that version is not to be had. */
export function findRuntimes(wanted) {
  const own = { version: process.versions.node, path: process.execPath };
  const all = [own];
  if (major(own) !== "24") {
    const version = versionOf(NODE_24);
    if (version !== undefined) all.push({ version, path: NODE_24 });
  }
  if (wanted === "both") return all;
  const found = all.filter((runtime) => major(runtime) === wanted);
  if (found.length > 0) return found;
  const have = all.map(({ version }) => version).join(" and ");
  throw new Error(`Node ${wanted} is not here, only ${have}; run the bench with the Node you mean`);
}

/** Undefined where the package's install script was not allowed to fetch the binary. */
function versionOf(path) {
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim().replace(/^v/, "") : undefined;
}

function major({ version }) {
  return version.split(".")[0];
}
