// Ties processes to one CPU. A client and a server that take turns are otherwise moved between CPUs at
// the scheduler's whim, which changes what a call takes by a factor of four and drowns every difference.

import { spawnSync } from "node:child_process";

/** The words to put before a command, or none where the platform has no such tool. */
export function pinToOneCpu() {
  if (process.platform !== "linux") return [];
  const { status, stdout } = spawnSync("taskset", ["-cp", String(process.pid)], {
    encoding: "utf8",
  });
  // "pid 42's current affinity list: 0,2-5": the last CPU is the one least used by interrupts.
  const cpu = status === 0 ? /(\d+)\s*$/.exec(stdout)?.[1] : undefined;
  return cpu === undefined ? [] : ["taskset", "-c", cpu];
}
