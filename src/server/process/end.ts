// Ends processes that were found one by one: SIGTERM, a short grace, SIGKILL. That each still is the
// process that was found is checked right before a signal goes out.

import type { Clock } from "../../util/clock.ts";
import { signalProcess } from "./signal.ts";
import type { ProcessEntry, ProcessTable } from "./table.ts";
import { until } from "./wait.ts";

export interface EndOptions {
  table: ProcessTable;
  clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL; with 0 there is no SIGTERM. */
  grace: number;
  /** Milliseconds after SIGKILL before a process counts as one that cannot be ended. */
  patience: number;
}

/** Resolves to what could not be ended: nothing, unless it is another user's or hangs in the kernel. */
export async function endProcesses(
  found: readonly ProcessEntry[],
  { table, clock, grace, patience }: EndOptions,
): Promise<ProcessEntry[]> {
  const denied: ProcessEntry[] = [];
  let left = [...found];
  const gone = async (): Promise<boolean> => (left = await table.living(left)).length === 0;
  const send = (signal: NodeJS.Signals): void => {
    left = left.filter((entry) => {
      if (signalProcess(entry.pid, signal) !== "denied") return true;
      denied.push(entry);
      return false;
    });
  };

  if (grace > 0 && !(await gone())) {
    send("SIGTERM");
    // A stopped process takes a SIGTERM only once it goes on.
    send("SIGCONT");
  }
  if (!(await until(gone, grace, clock))) {
    send("SIGKILL");
    await until(gone, patience, clock);
  }
  return [...denied, ...left];
}
