// The bench's side of a worker: one process, told what to do step by step, ended when it is too slow.

import { fileURLToPath } from "node:url";
import { end, start } from "./processes.mjs";

const WORKER = fileURLToPath(new URL("../worker.mjs", import.meta.url));
const STDERR_KEPT = 4_000;
const GRACE_MS = 5_000;

/** Every step resolves to `{ sample }` or `{ failure }`; it never rejects. */
export function startWorker({ runtime, contender, scenario, quick, prefix = [], cwd }) {
  const args = [WORKER, contender.name, scenario.name, ...(quick ? ["--quick"] : [])];
  const [command, ...rest] = [...prefix, runtime.path, ...args];
  const child = start(command, rest, { cwd, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let stderr = "";
  let settle = () => {};
  let over;

  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr = (stderr + text).slice(-STDERR_KEPT);
  });
  child.on("message", (answer) => settle(answer));
  const gone = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(describeEnd(code ?? signal, stderr)));
  });
  void gone.then(finish);

  function finish(failure) {
    over ??= { failure };
    settle(over);
  }

  function step(name) {
    if (over !== undefined) return Promise.resolve(over);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        finish(`no answer in ${scenario.timeLimit} s`);
        end(child);
      }, scenario.timeLimit * 1_000);
      settle = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      // A process that cannot be told anything has ended, and its end says why.
      child.send(name, () => {});
    });
  }

  return {
    prepare: () => step("prepare"),
    sample: () => step("sample"),
    /** Resolves when the process is gone. */
    async close() {
      await step("close");
      const timer = setTimeout(() => end(child), GRACE_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}

/** A crash prints its error above the stack; that line says more than the exit code. */
function describeEnd(how, stderr) {
  const line = stderr.split("\n").findLast((text) => /^\w*Error\b/.test(text));
  return line ?? `ended with ${how}`;
}
