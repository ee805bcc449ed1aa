// Sending a signal, with its failures as values.

import { hasCode } from "./errno.ts";

export type SignalOutcome =
  | "sent"
  /** Nobody is there. */
  | "gone"
  /** Somebody is there, but not ours to signal. */
  | "denied";

export function signalProcess(pid: number, signal: NodeJS.Signals | 0): SignalOutcome {
  return send(pid, pid, signal);
}

/** To every process of the group; "denied" if not one of them could be signalled. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): SignalOutcome {
  return send(pgid, -pgid, signal);
}

function send(id: number, target: number, signal: NodeJS.Signals | 0): SignalOutcome {
  // 0 and -1 mean "my own group" and "everybody", and 1 is nobody's to end.
  if (!Number.isSafeInteger(id) || id <= 1) return "gone";
  try {
    process.kill(target, signal);
    return "sent";
  } catch (error) {
    return hasCode(error, "EPERM") ? "denied" : "gone";
  }
}
