// Whether a request may go on, and what it is told if not.

import type { Refusal } from "../../endpoint/http/refusal.ts";
import type { Caller, CallerJwt, TokenPolicy } from "../../../core/types/caller.ts";

/** Whom an identity provider has vouched for, under which id and when. `plugboard tokens signout` ends what is older. */
export interface SignedIn {
  as: string;
  /** Milliseconds since the epoch; 0 if nobody knows. */
  at: number;
}

/** Who was let in, and what they may do in addition to the rules of the agent. */
export interface AdmittedCaller {
  caller: Caller;
  policy?: TokenPolicy;
  /** When the JWT ends, in milliseconds since the epoch. Other tokens can be asked about by the caller's id. */
  expiresAt?: number;
  /** Absent for other tokens. */
  signedIn?: SignedIn;
  /** The JWT itself. Absent for other tokens. */
  jwt?: CallerJwt;
  /** Counts further requests that came with this one. The milliseconds until the caller may make so many, or 0. */
  countMore?: (requests: number) => number | Promise<number>;
  /** Counts the bytes of a large request. The milliseconds until the caller may send so many, or 0. */
  countBytes?: (bytes: number) => number;
}

export interface Admitted extends AdmittedCaller {
  isAdmitted: true;
  /** Undefined: every agent. */
  agents: readonly string[] | undefined;
  countMore: NonNullable<AdmittedCaller["countMore"]>;
}

export type Admission = Admitted | Refusal;
