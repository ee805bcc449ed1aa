// Processes by a marker in their environment: whoever is left of a run, whatever it called itself.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Pids of living processes with `marker` in their environment, this one excepted. */
export function processesWith(marker) {
  const pids = process.platform === "linux" ? fromProc(marker) : fromPs(marker);
  return pids.filter((pid) => pid !== process.pid);
}

/** Resolves to those that are left when none is, or `ms` have passed. */
export async function leftAfter(marker, ms) {
  const deadline = performance.now() + ms;
  for (;;) {
    const left = processesWith(marker);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function endAll(marker) {
  for (const pid of processesWith(marker)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

function fromProc(marker) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(marker);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function fromPs(marker) {
  const flags = process.platform === "darwin" ? "-axwwE" : "axeww";
  return execFileSync("/bin/ps", [flags, "-o", "pid=", "-o", "command="], {
    encoding: "latin1",
    maxBuffer: 64 << 20,
  })
    .split("\n")
    .filter((line) => line.includes(marker))
    .map((line) => Number.parseInt(line, 10));
}
