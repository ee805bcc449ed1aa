// Finds processes and ends them: SIGTERM, a short wait, SIGKILL. Right before each signal it checks that the
// process is still the one that was found.

import type { Clock } from "../../util/clock.ts";
import { pollUntil } from "../../util/poll.ts";
import { signalProcess } from "../../util/signal.ts";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

export interface TerminateOptions {
  table: ProcessTable;
  clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Milliseconds after SIGKILL before a process counts as one that cannot be ended. */
  patience: number;
  /** After this many rounds there is no more SIGTERM: some programs start themselves again on it. */
  sigtermRounds: number;
}

/** What we find may start something else before it ends, so we look more than once. */
const ROUNDS = 6;

/** `survivors` still run: processes of another user, or stuck in the kernel. */
export async function terminateProcesses(
  find: () => Promise<ProcessEntry[]>,
  options: TerminateOptions,
): Promise<{ ended: ProcessEntry[]; survivors: ProcessEntry[] }> {
  const ended: ProcessEntry[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await find();
    if (found.length === 0) break;
    const grace = round < options.sigtermRounds ? options.grace : 0;
    const survivors = await terminateOnce(found, { ...options, grace });
    ended.push(...found.filter((entry) => !survivors.includes(entry)));
    if (survivors.length > 0) return { ended, survivors };
  }
  return { ended, survivors: [] };
}

/** With a `grace` of 0 there is no SIGTERM. Resolves to what still runs. */
async function terminateOnce(
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
