// Ends what is left of the servers when this process exits without having stopped them: after `process.exit()`, an
// uncaught error or a second Ctrl-C. Only synchronous work is possible then, and nobody can wait for a polite end,
// so everything gets SIGKILL: the servers, their groups, their descendants, and what carries their cookies. Browsers
// and daemons leave the group, so killing the group alone would not do.

import { execFileSync } from "node:child_process";
import { exitGuard } from "../../util/exit-guard.ts";
import { signalGroup, signalProcess } from "../../util/signal.ts";
import { sinceHostStart } from "./host-identity.ts";
import {
  type ProcessEntry,
  type ProcessRef,
  type ProcessTable,
  withAncestors,
  withRelatives,
} from "./process-table.ts";

export interface SweepTarget {
  /** It leads a process group. */
  readonly pid: number;
  readonly cookie: string;
  /** The descendants when its stop began: those whose parent has ended since can no longer be found by descent. */
  noted: readonly ProcessRef[];
}

export interface SweepOptions {
  /** Absent on Windows. */
  table: Pick<ProcessTable, "listNow"> | undefined;
  /** The program that ends process trees on Windows. */
  taskkill: string;
}

/** What we end may start something else before it is gone, so we look more than once. */
const ROUNDS = 40;
/** A killed process takes a moment to go. */
const PAUSE_MS = 10;
const TASKKILL_MS = 3000;
const targets = new Map<number, SweepTarget>();

/** Until the returned function is called, the target does not outlive this process. */
export function sweepAtExit(target: SweepTarget, options: SweepOptions): () => void {
  targets.set(target.pid, target);
  // All targets share one look at the process table.
  exitGuard.watch(target.pid, () => {
    const all = [...targets.values()];
    targets.clear();
    if (all.length > 0) sweepNow(all, options);
  });
  return () => {
    targets.delete(target.pid);
    exitGuard.release(target.pid);
  };
}

/** Never throws. */
export function sweepNow(all: readonly SweepTarget[], { table, taskkill }: SweepOptions): void {
  if (table === undefined) return all.forEach(({ pid }) => killOnWindows(pid, taskkill));
  try {
    killAll(all, table);
  } catch {
    // The table cannot be read, for example because this process has run out of files.
    for (const { pid } of all) signalGroup(pid, "SIGKILL");
  }
}

function killAll(all: readonly SweepTarget[], table: Pick<ProcessTable, "listNow">): void {
  const since = sinceHostStart();
  const roots = new Set(all.map(({ pid }) => pid));
  const cookies = new Set(all.map(({ cookie }) => cookie));
  const known = new Map(all.flatMap(({ noted }) => noted.map(({ pid, start }) => [pid, start])));
  const isOurs = ({ pid, pgid, start, cookie = "" }: ProcessEntry): boolean =>
    roots.has(pid) || roots.has(pgid) || cookies.has(cookie) || known.get(pid) === start;
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = table.listNow(since);
    const spared = withAncestors(running, process.pid);
    const found = withRelatives(
      running,
      running.filter((entry) => Number(entry.start) >= Number(since) && isOurs(entry)),
    ).filter(({ pid, zombie }) => !zombie && !spared.has(pid));
    if (found.length === 0) return;
    for (const { pid, start } of found) {
      known.set(pid, start);
      signalProcess(pid, "SIGKILL");
    }
    pauseNow(PAUSE_MS);
  }
}

function killOnWindows(pid: number, taskkill: string): void {
  try {
    const args = ["/pid", String(pid), "/T", "/F"];
    execFileSync(taskkill, args, { stdio: "ignore", timeout: TASKKILL_MS, windowsHide: true });
  } catch {
    signalProcess(pid, "SIGKILL");
  }
}

/** Nothing else can run in the meantime, which is what an exiting process needs. */
function pauseNow(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
