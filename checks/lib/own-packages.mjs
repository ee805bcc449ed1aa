// For folders with a lockfile of their own (acpx, agents, apps, bench, bundlers, clients, conformance, openclaw, sdks, windows): whether
// what it says is installed, and steps that say what they do.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** What is installed in the folder, whose path ends with a slash, is what its lockfile says. */
export function isInstalled(folder) {
  const { packages } = JSON.parse(readFileSync(`${folder}package-lock.json`, "utf8"));
  return Object.keys(packages[""].dependencies).every((name) => {
    const manifest = `${folder}node_modules/${name}/package.json`;
    if (!existsSync(manifest)) return false;
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    return version === packages[`node_modules/${name}`].version;
  });
}

/** `who` and `what` are for people: "acpx", "installing acpx". Throws where npm fails, which has said why. */
export function npm(task, args) {
  const windows = process.platform === "win32";
  step(task, windows ? "npm.cmd" : "npm", args, { shell: windows });
}

/** The same for another program. Its output is not this one's: it goes to stderr. */
export function step({ who, what, cwd }, command, args, options = {}) {
  process.stderr.write(`${who}: ${what} …\n`);
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", process.stderr.fd, process.stderr.fd],
    ...options,
  });
  if (status === 0) return;
  throw new Error(`${what} failed: ${command} ${args.join(" ")} in ${cwd}`, { cause: error });
}
