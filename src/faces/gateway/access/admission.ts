// Whether a request may go on, and what it is told if not.

import type { Caller, TokenPolicy } from "../../../model/caller.ts";

export interface Refusal {
  isAdmitted: false;
  status: number;
  headers: Record<string, string>;
  message: string;
}

/** Counts so many requests, or none; resolves to the milliseconds until the caller may make so many, or 0. */
export type CountRequests = (requests: number) => number | Promise<number>;

export type Admission =
  | {
      isAdmitted: true;
      caller: Caller;
      /** Undefined: every agent. */
      agents: readonly string[] | undefined;
      policy?: TokenPolicy;
      /** When the JWT ends, in milliseconds since the epoch. Other tokens can be asked about by the caller's id. */
      expiresAt?: number;
      /** Counts further requests that came with this one. */
      countMore: CountRequests;
    }
  | Refusal;

export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Refusal {
  return { isAdmitted: false, status, headers, message };
}
