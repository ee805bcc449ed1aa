// Whether a request may go on, and what it is told if not.

import type { Caller, TokenPolicy } from "../../../model/caller.ts";

export interface Refusal {
  isAdmitted: false;
  status: number;
  headers: Record<string, string>;
  message: string;
  /** Who made the request, if that is known. For the log. */
  caller?: string;
}

export type Admission =
  | {
      isAdmitted: true;
      caller: Caller;
      /** Undefined: every agent. */
      agents: readonly string[] | undefined;
      policy?: TokenPolicy;
    }
  | Refusal;

export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Refusal {
  return { isAdmitted: false, status, headers, message };
}
