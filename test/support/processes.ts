// Looking at real processes from a test: who carries a marker in their environment, who is still alive.
// Reads the system on its own, so that a fault in the code under test cannot hide a leak from it.

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { expect } from "vitest";

/** In the environment of everything that this test process has started as a server. */
function cookieMarker(): string {
  return `PLUGBOARD_COOKIE=1.${process.geteuid?.() ?? 0}.${process.pid}.`;
}

/** Pids of living processes that have `marker` in their environment, this one excepted. */
export function processesWith(marker: string): number[] {
  const pids = process.platform === "linux" ? fromProc(marker) : fromPs(marker);
  return pids.filter((pid) => pid !== process.pid);
}

/** Everything that this test process has started as a server, and what those have started. */
export function startedProcesses(): number[] {
  return processesWith(cookieMarker());
}

/** The leak check: nothing that carries `marker` is left. */
export function expectNoProcesses(marker: string = cookieMarker()): void {
  expect(processesWith(marker), `processes left with ${marker}`).toEqual([]);
}

/** Whether it runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
    }
    const stat = execFileSync("/bin/ps", ["-o", "stat=", "-p", String(pid)], {
      encoding: "latin1",
    });
    return !stat.trim().startsWith("Z");
  } catch {
    return false;
  }
}

/** Asserts that `condition` comes to hold; the test's own timeout is the limit. */
export async function eventually(condition: () => boolean): Promise<void> {
  let holds = condition();
  while (!holds) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    holds = condition();
  }
  expect(holds).toBe(true);
}

/** The same for processes that a test knows by number. Ends them, so that one leak is one failure. */
export function expectAllGone(pids: Iterable<number>): void {
  const left = [...pids].filter(isAlive);
  for (const pid of left) process.kill(pid, "SIGKILL");
  expect(left, "processes left").toEqual([]);
}

/** As much as Linux hands a program. One for all: some tests look at hundreds of processes again and again. */
const ENVIRONMENT = Buffer.alloc(128 << 10);

function fromProc(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const file = openSync(`/proc/${name}/environ`, "r");
        try {
          const length = readSync(file, ENVIRONMENT);
          return ENVIRONMENT.subarray(0, length).includes(marker);
        } finally {
          closeSync(file);
        }
      } catch {
        return false;
      }
    })
    .map(Number);
}

function fromPs(marker: string): number[] {
  const flags = process.platform === "darwin" ? "-axwwE" : "axeww";
  const args = [flags, "-o", "pid=", "-o", "command="];
  return execFileSync("/bin/ps", args, { encoding: "latin1", maxBuffer: 64 << 20 })
    .split("\n")
    .filter((line) => line.includes(marker))
    .map((line) => Number.parseInt(line, 10));
}
