// Stopping a server so that nothing of it is left:
//   1. note what descends from it: orphans change parents
//   2. close stdin and give it a moment, since most servers end by themselves then
//   3. SIGTERM to its process group, and wait
//   4. SIGKILL to the group
//   5. stop its containers, if it is one
//   6. sweep: SIGTERM, then SIGKILL, to whatever carries its cookie or was noted in 1
// A server that ended by itself goes through 3 to 6 for what it left behind.

import type { Logger } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { within } from "../../util/clock.ts";
import { endProcesses } from "./end.ts";
import { signalGroup } from "./signal.ts";
import type { ProcessEntry, ProcessRef, ProcessTable } from "./table.ts";
import { lineage, withKin } from "./tree.ts";
import { until } from "./wait.ts";

export interface StopTiming {
  /** Milliseconds between closing stdin and SIGTERM. */
  eof: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  term: number;
  /** The same for processes found outside the group. */
  sweep: number;
  /** Milliseconds after SIGKILL before a process counts as one that cannot be ended. */
  kill: number;
}

export const STOP_TIMING: StopTiming = { eof: 150, term: 5000, sweep: 1000, kill: 2000 };

export interface ExitStatus {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StopTarget {
  /** The child, which leads a process group of its own. */
  readonly pid: number;
  readonly cookie: string;
  readonly exited: Promise<ExitStatus>;
  hasExited(): boolean;
  closeStdin(): void;
}

export interface StopTools {
  clock: Clock;
  logger: Logger;
  timing: StopTiming;
  /** Present where the server runs in containers; never rejects, never hangs. */
  stopContainers?: (() => Promise<void>) | undefined;
}

/** Never rejects; what cannot be ended is logged. */
export async function stopTree(
  target: StopTarget,
  table: ProcessTable,
  tools: StopTools,
): Promise<void> {
  const { clock, logger, timing, stopContainers } = tools;
  const group = new Group(target, table, clock);
  const crashed = target.hasExited();
  const noted = crashed ? [] : await table.descendants(target.pid).catch(() => []);
  target.closeStdin();
  if (!(await group.gone(crashed ? 0 : timing.eof))) {
    const containers = stopContainers?.();
    group.send("SIGTERM");
    // A stopped process takes a SIGTERM only once it goes on.
    group.send("SIGCONT");
    if (!(await group.gone(timing.term))) {
      group.send("SIGKILL");
      if (!(await group.gone(timing.kill))) {
        logger.warn("a server's process group cannot be ended", { pgid: target.pid });
      }
    }
    await containers;
  }
  await stopContainers?.();
  await sweep(target, noted, table, tools).catch((error: unknown) => {
    logger.warn("cannot look for processes that left their server's group", { error });
  });
}

/** The child's process group, which may outlive the child. */
class Group {
  readonly #target: StopTarget;
  readonly #table: ProcessTable;
  readonly #clock: Clock;
  /** Once it is gone its number may become somebody else's. */
  #isGone = false;
  #members: ProcessRef[] = [];

  constructor(target: StopTarget, table: ProcessTable, clock: Clock) {
    this.#target = target;
    this.#table = table;
    this.#clock = clock;
  }

  send(signal: NodeJS.Signals): void {
    if (!this.#isGone) signalGroup(this.#target.pid, signal);
  }

  /** Whether the child and all others of the group ended within `ms`. */
  async gone(ms: number): Promise<boolean> {
    const clock = this.#clock;
    const deadline = clock.monotonic() + ms;
    if (!this.#target.hasExited() && !(await within(clock, ms, this.#target.exited))) return false;
    return until(() => this.#check(), deadline - clock.monotonic(), clock);
  }

  /** A group of zombies can be signalled like any other, so the table has the last word. */
  async #check(): Promise<boolean> {
    const table = this.#table;
    const pgid = this.#target.pid;
    if (this.#isGone || signalGroup(pgid, 0) === "gone") return (this.#isGone = true);
    try {
      this.#members = await table.living(this.#members);
      if (this.#members.length > 0) return false;
      this.#members = (await table.list()).filter((entry) => entry.pgid === pgid && !entry.zombie);
      return (this.#isGone = this.#members.length === 0);
    } catch {
      return false;
    }
  }
}

/** What is found may start something else before it ends, hence more than one look. */
const ROUNDS = 6;
/** What starts itself again whenever it is told to end is no longer told. */
const POLITE_ROUNDS = 2;

async function sweep(
  { pid, cookie }: StopTarget,
  noted: readonly ProcessRef[],
  table: ProcessTable,
  { clock, logger, timing }: StopTools,
): Promise<void> {
  const starts = new Map(noted.map((ref) => [ref.pid, ref.start]));
  const isOurs = (entry: ProcessEntry): boolean =>
    entry.cookie === cookie || starts.get(entry.pid) === entry.start;
  for (let round = 0; round < ROUNDS; round += 1) {
    const all = await table.list();
    const spared = lineage(all, process.pid);
    const found = withKin(all, all.filter(isOurs)).filter(
      (entry) => !entry.zombie && !spared.has(entry.pid),
    );
    if (found.length === 0) return;
    logger.debug("ending processes that left their server's group", { pids: pidsOf(found) });
    const grace = round < POLITE_ROUNDS ? timing.sweep : 0;
    const options = { table, clock, grace, patience: timing.kill };
    const survivors = await endProcesses(found, options);
    if (survivors.length > 0) {
      logger.warn("processes of a server cannot be ended", {
        server: pid,
        pids: pidsOf(survivors),
      });
      return;
    }
  }
}

function pidsOf(entries: readonly ProcessEntry[]): number[] {
  return entries.map(({ pid }) => pid);
}
