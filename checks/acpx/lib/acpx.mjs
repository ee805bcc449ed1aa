// acpx as a command, on the Node it needs.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));
const PACKAGE = `${MODULES}acpx`;

/** acpx needs a newer one than the project does. */
const NODE = `${MODULES}node24/bin/node`;
/** For a run that hangs. */
const KILL_MS = 60_000;

export function versions() {
  return `acpx ${versionIn(PACKAGE)} on Node ${versionIn(`${MODULES}node24`)}`;
}

/** Resolves to `{ code, stdout, stderr }` when acpx has ended; `code` is null where it had to be ended. */
export function runAcpx(args, { cwd, env, onStdout = () => {} }) {
  return new Promise((resolve, reject) => {
    const child = spawn(NODE, [`${PACKAGE}/dist/cli.js`, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      said.stdout += chunk;
      onStdout(said.stdout);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said.stderr += chunk;
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), KILL_MS);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, ...said });
    });
  });
}

function versionIn(directory) {
  return JSON.parse(readFileSync(`${directory}/package.json`, "utf8")).version;
}
