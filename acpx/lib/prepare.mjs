// What must be there before anything can be tested: acpx in acpx/node_modules, the build.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * What the lockfile says. `npm ci` would insist on native packages for every other system too, which the
 * lockfile does not have.
 */
const INSTALL = ["install", "--no-save", "--no-audit", "--no-fund"];

/** Throws where a step fails; what the step printed has said why. */
export function prepare({ build }) {
  if (!isInstalled()) npm("installing acpx", INSTALL, HERE);
  if (build) npm("building the project", ["run", "build"], ROOT);
}

/** What is installed is what the lockfile says. */
function isInstalled() {
  const { packages } = JSON.parse(readFileSync(`${HERE}package-lock.json`, "utf8"));
  return Object.keys(packages[""].dependencies).every((name) => {
    const manifest = `${HERE}node_modules/${name}/package.json`;
    if (!existsSync(manifest)) return false;
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    return version === packages[`node_modules/${name}`].version;
  });
}

function npm(what, args, cwd) {
  process.stderr.write(`acpx: ${what} …\n`);
  const windows = process.platform === "win32";
  const { status, error } = spawnSync(windows ? "npm.cmd" : "npm", args, {
    cwd,
    stdio: ["ignore", process.stderr.fd, process.stderr.fd],
    shell: windows,
  });
  if (status === 0) return;
  throw new Error(`${what} failed: npm ${args.join(" ")} in ${cwd}`, { cause: error });
}
