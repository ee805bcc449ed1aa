// Everything that is checked besides running the tests: `npm run check`, after a build. The checks do not
// depend on each other, so as many run at a time as there are cores. A check that fails has its output printed
// under its name, and the exit code is 1. With `--with <command …>` that command runs meanwhile and fails it too:
// tests wait more than they work, so the checks, one at a time then, cost them little.

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

/** Scripts of package.json, the slowest first. */
const CHECKS = ["lint", "package:check", "typecheck", "deadcode", "format:check", "docs:check"];

const root = fileURLToPath(new URL("..", import.meta.url));
const windows = process.platform === "win32";
const beside = process.argv[2] === "--with" ? process.argv.slice(3) : undefined;

/** Resolves to whether it passed. */
async function check(name) {
  const began = performance.now();
  const child = spawn(windows ? "npm.cmd" : "npm", ["run", "--silent", name], {
    cwd: root,
    // Packing would build where the sources have changed, under the checks that read dist/.
    // The compiler spends a third of its work on collecting garbage unless it may use twice the memory.
    // Beside the tests there is one core for it at most, and its threads would do the same work again.
    env: {
      GOGC: "400",
      ...(beside !== undefined && { GOMAXPROCS: "1" }),
      ...process.env,
      npm_config_ignore_scripts: "true",
    },
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

/** Resolves to whether it passed. Its words come as it says them. */
function runBeside([command, ...args]) {
  const child = spawn(command, args, { cwd: root, shell: windows, stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      console.error(String(error));
      resolve(false);
    });
    child.on("close", (code) => resolve(code === 0));
  });
}

const waiting = [...CHECKS];
const failed = [];

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await check(name))) failed.push(name);
  }
}

const workers = beside === undefined ? Math.max(2, availableParallelism()) : 1;
const [isPassed] = await Promise.all([
  beside === undefined ? true : runBeside(beside),
  ...Array.from({ length: workers }, work),
]);
if (!isPassed) failed.push(beside.join(" "));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
