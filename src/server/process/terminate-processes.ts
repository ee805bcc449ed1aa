// Ends single processes that were found in the process table: SIGTERM, a short wait, SIGKILL. Right before
// each signal it checks that the process is still the one that was found.

import type { Clock } from "../../util/clock.ts";
import { pollUntil } from "../../util/poll.ts";
import { signalProcess } from "../../util/signal.ts";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

export interface TerminateOptions {
  table: ProcessTable;
  clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL; with 0 there is no SIGTERM. */
  grace: number;
  /** Milliseconds after SIGKILL before a process counts as one that cannot be ended. */
  patience: number;
}

/** Resolves to what still runs: processes of another user, or stuck in the kernel. */
export async function terminateProcesses(
  found: readonly ProcessEntry[],
  { table, clock, grace, patience }: TerminateOptions,
): Promise<ProcessEntry[]> {
  const denied: ProcessEntry[] = [];
  let left = [...found];
  const areGone = async (): Promise<boolean> => (left = await table.living(left)).length === 0;
  const send = (signal: NodeJS.Signals): void => {
    left = left.filter((entry) => {
      if (signalProcess(entry.pid, signal) !== "denied") return true;
      denied.push(entry);
      return false;
    });
  };

  if (grace > 0 && !(await areGone())) {
    send("SIGTERM");
    // A stopped process handles SIGTERM only after it continues.
    send("SIGCONT");
  }
  if (!(await pollUntil(areGone, grace, clock))) {
    send("SIGKILL");
    await pollUntil(areGone, patience, clock);
  }
  return [...denied, ...left];
}
