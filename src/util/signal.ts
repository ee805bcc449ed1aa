// Sends signals to processes and process groups. Failures are return values.

import { hasErrorCode } from "./error-code.ts";

export type SignalOutcome =
  | "sent"
  /** There is no such process. */
  | "gone"
  /** There is one, but we may not signal it. */
  | "denied";

export function signalProcess(pid: number, signal: NodeJS.Signals | 0): SignalOutcome {
  return send(pid, pid, signal);
}

/** Signals every process of the group; "denied" if none of them could be signalled. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): SignalOutcome {
  return send(pgid, -pgid, signal);
}

function send(id: number, target: number, signal: NodeJS.Signals | 0): SignalOutcome {
  // 0 means the caller's own group, -1 means every process, and 1 is init: never signal any of them.
  if (!Number.isSafeInteger(id) || id <= 1) return "gone";
  try {
    process.kill(target, signal);
    return "sent";
  } catch (error) {
    return hasErrorCode(error, "EPERM") ? "denied" : "gone";
  }
}
