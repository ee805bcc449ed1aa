// What must be there before anything can be measured: the peers in bench/node_modules, the build.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BENCH = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ needsBuild }) {
  if (!isInstalled()) {
    const windows = process.platform === "win32";
    step("installing the peers", windows ? "npm.cmd" : "npm", ["ci"], BENCH, { shell: windows });
  }
  if (needsBuild && !(existsSync(`${ROOT}dist/index.js`) && existsSync(`${ROOT}dist/bin.js`))) {
    step("building the project", process.execPath, ["scripts/build.mjs"], ROOT);
  }
}

/** What is installed is what the lockfile says. */
function isInstalled() {
  const { packages } = JSON.parse(readFileSync(`${BENCH}package-lock.json`, "utf8"));
  return Object.keys(packages[""].dependencies).every((name) => {
    const manifest = `${BENCH}node_modules/${name}/package.json`;
    if (!existsSync(manifest)) return false;
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    return version === packages[`node_modules/${name}`].version;
  });
}

function step(what, command, args, cwd, options = {}) {
  console.error(`bench: ${what} …`);
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", process.stderr.fd, process.stderr.fd],
    ...options,
  });
  if (status === 0) return;
  throw new Error(`${what} failed: ${command} ${args.join(" ")} in ${cwd}`, { cause: error });
}
