// Everything that is checked besides running the tests: `npm run check`, after a build. The checks do not
// depend on each other, so as many run at a time as there are cores. A check that fails has its output printed
// under its name, and the exit code is 1.

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

/** Scripts of package.json, the slowest first. */
const CHECKS = ["lint", "package:check", "typecheck", "deadcode", "format:check", "docs:check"];

const root = fileURLToPath(new URL("..", import.meta.url));
const windows = process.platform === "win32";

/** Resolves to whether it passed. */
async function check(name) {
  const began = performance.now();
  const child = spawn(windows ? "npm.cmd" : "npm", ["run", "--silent", name], {
    cwd: root,
    // Packing would build where the sources have changed, under the checks that read dist/.
    env: { ...process.env, npm_config_ignore_scripts: "true" },
    shell: windows,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  const passed = await new Promise((resolve) => {
    child.on("error", (error) => {
      output.push(Buffer.from(`${error}\n`));
      resolve(false);
    });
    child.on("close", (code) => resolve(code === 0));
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${passed ? "✓" : "✗"} ${name} (${seconds} s)`);
  if (!passed) process.stdout.write(Buffer.concat(output));
  return passed;
}

const waiting = [...CHECKS];
const failed = [];

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await check(name))) failed.push(name);
  }
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
