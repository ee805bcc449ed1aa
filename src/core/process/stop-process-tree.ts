// Stops a server so that nothing of it is left:
//   1. note its descendants: orphans change parents, and could not be found later
//   2. close stdin and wait a moment, since most servers end by themselves then
//   3. SIGTERM to its process group, and wait
//   4. SIGKILL to the group
//   5. stop its containers, if it runs in any
//   6. sweep: SIGTERM, then SIGKILL, to everything that carries its cookie or was noted in step 1
// A server that ended by itself goes through steps 3 to 6 for what it left behind.
// Windows has neither process groups nor readable environments: there, `taskkill` ends the tree.

import { execFile } from "node:child_process";
import { win32 } from "node:path";
import type { Logger } from "../types/logger.ts";
import { type Clock, within } from "../../util/clock.ts";
import { pollUntil } from "../../util/poll.ts";
import { signalGroup } from "../../util/signal.ts";
import { type ContainerEngine, stopContainers } from "./containers.ts";
import type { SweepTarget } from "./exit-sweep.ts";
import { sinceHostStart } from "./host-identity.ts";
import { sharedProcessTable } from "./open-process-table.ts";
import {
  pidsOf,
  type ProcessEntry,
  type ProcessRef,
  type ProcessTable,
  withAncestors,
  withRelatives,
} from "./process-table.ts";
import { terminateProcesses } from "./terminate-processes.ts";

interface StopTiming {
  /** Milliseconds between closing stdin and SIGTERM. */
  eof: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  term: number;
  /** The same for processes found outside the group. */
  sweep: number;
  /** Milliseconds after SIGKILL before a process counts as one that cannot be ended. */
  kill: number;
}

const STOP_TIMING: StopTiming = { eof: 150, term: 5000, sweep: 1000, kill: 2000 };

export interface ExitStatus {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The root of the tree: the child that was started. */
export interface StopTarget extends SweepTarget {
  readonly exited: Promise<ExitStatus>;
  hasExited(): boolean;
  closeStdin(): void;
}

export interface StopOptions {
  clock: Clock;
  logger: Logger;
  platform: NodeJS.Platform;
  /** The host's environment. */
  ambient: NodeJS.ProcessEnv;
  timing?: Partial<StopTiming>;
  table?: ProcessTable;
  /** The program that ends process trees on Windows. */
  taskkill?: string;
  /** Present where the server runs in containers. */
  engine?: ContainerEngine;
}

/** How the tree is stopped, with every default filled in. `stopContainers` never rejects and never hangs. */
type StopPlan = Pick<StopOptions, "clock" | "logger"> & {
  timing: StopTiming;
  stopContainers: () => Promise<void>;
};

/** Never rejects; what cannot be ended is logged. */
export function stopProcessTree(target: StopTarget, options: StopOptions): Promise<void> {
  const { clock, logger, platform, ambient, engine } = options;
  const timing = { ...STOP_TIMING, ...options.timing };
  const grace = Math.ceil(timing.term / 1000);
  const plan: StopPlan = {
    clock,
    logger,
    timing,
    stopContainers: async () =>
      engine && stopContainers(engine, target.cookie, { clock, logger, grace }),
  };
  const table = options.table ?? sharedProcessTable(platform);
  if (table) return stopGroupAndSweep(target, table, plan);
  return stopOnWindows(target, options.taskkill ?? taskkillPath(ambient), plan);
}

async function stopGroupAndSweep(
  target: StopTarget,
  table: ProcessTable,
  plan: StopPlan,
): Promise<void> {
  const { clock, logger, timing } = plan;
  const group = processGroup(target, table, clock);
  const crashed = target.hasExited();
  const noted = crashed ? [] : await table.descendants(target.pid).catch(() => []);
  target.noted = noted;
  target.closeStdin();
  if (!(await group.isGoneWithin(crashed ? 0 : timing.eof))) {
    const containers = plan.stopContainers();
    group.send("SIGTERM");
    // A stopped process handles SIGTERM only after it continues.
    group.send("SIGCONT");
    if (!(await group.isGoneWithin(timing.term))) {
      group.send("SIGKILL");
      if (!(await group.isGoneWithin(timing.kill))) {
        logger.warn("a server's process group cannot be ended", { pgid: target.pid });
      }
    }
    await containers;
  }
  await plan.stopContainers();
  await sweep(target, noted, table, plan).catch((error: unknown) => {
    logger.warn("cannot look for processes that left their server's group", { error });
  });
}

/** The child's process group, which may outlive the child. */
function processGroup(target: StopTarget, table: ProcessTable, clock: Clock) {
  const pgid = target.pid;
  // Once the group is gone, its number may be reused: then it must not be signalled any more.
  let isGone = false;
  let members: ProcessRef[] = [];

  /** A group of zombies can still be signalled, so the process table decides. */
  async function check(): Promise<boolean> {
    if (isGone || signalGroup(pgid, 0) === "gone") return (isGone = true);
    try {
      members = await table.living(members);
      if (members.length > 0) return false;
      members = (await table.list(sinceHostStart())).filter(
        (entry) => entry.pgid === pgid && !entry.zombie,
      );
      return (isGone = members.length === 0);
    } catch {
      return false;
    }
  }

  return {
    send(signal: NodeJS.Signals): void {
      if (!isGone) signalGroup(pgid, signal);
    },
    /** Whether the child and all other members ended within `ms`. */
    async isGoneWithin(ms: number): Promise<boolean> {
      const deadline = clock.monotonic() + ms;
      if (!target.hasExited() && !(await within(clock, ms, target.exited))) return false;
      return pollUntil(check, deadline - clock.monotonic(), clock);
    },
  };
}

async function sweep(
  { pid, cookie }: StopTarget,
  noted: readonly ProcessRef[],
  table: ProcessTable,
  { clock, logger, timing }: StopPlan,
): Promise<void> {
  const starts = new Map(noted.map((ref) => [ref.pid, ref.start]));
  const isOurs = (entry: ProcessEntry): boolean =>
    entry.cookie === cookie || starts.get(entry.pid) === entry.start;
  const find = async (): Promise<ProcessEntry[]> => {
    const all = await table.list(sinceHostStart());
    const spared = withAncestors(all, process.pid);
    const found = withRelatives(all, all.filter(isOurs)).filter(
      (entry) => !entry.zombie && !spared.has(entry.pid),
    );
    if (found.length > 0) {
      logger.debug("ending processes that left their server's group", { pids: pidsOf(found) });
    }
    return found;
  };
  const options = { table, clock, grace: timing.sweep, patience: timing.kill, sigtermRounds: 2 };
  const { survivors } = await terminateProcesses(find, options);
  if (survivors.length === 0) return;
  logger.warn("processes of a server cannot be ended", { server: pid, pids: pidsOf(survivors) });
}

async function stopOnWindows(target: StopTarget, taskkill: string, plan: StopPlan): Promise<void> {
  const { clock, logger, timing } = plan;
  target.closeStdin();
  if (await within(clock, timing.eof, target.exited)) return plan.stopContainers();
  const containers = plan.stopContainers();
  await within(clock, timing.term, run(taskkill, ["/pid", String(target.pid), "/T", "/F"]));
  if (!(await within(clock, timing.kill, target.exited))) {
    logger.warn("a server's process cannot be ended", { pid: target.pid });
  }
  await containers;
}

/** The full path, so that a program of that name in the working directory is not run instead. */
export function taskkillPath(env: NodeJS.ProcessEnv): string {
  const root = env["SystemRoot"] ?? env["SYSTEMROOT"] ?? "C:\\Windows";
  return win32.join(root, "System32", "taskkill.exe");
}

function run(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    execFile(file, args, { windowsHide: true }, () => resolve());
  });
}
