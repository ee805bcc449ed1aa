// Runs a program to its end and collects what it says, for the checks with real programs.

import { spawn } from "node:child_process";

/**
 * `command` is the program and its first arguments. Ends it after `killMs`. Resolves to `{ code, signal, stdout, stderr }`,
 * and `said`, which has both in the order in which they came. `code` is null where a signal ended it.
 */
export function runProgram([command, ...first], args, { cwd, env, killMs }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: killMs,
      killSignal: "SIGKILL",
    });
    const said = { stdout: "", stderr: "", said: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (chunk) => {
        said[name] += chunk;
        said.said += chunk;
      });
    }
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, ...said }));
  });
}
