// Who sends requests to the gateway, and what they may do.

import { canonicalJson } from "../../util/canonical-json.ts";
import type { SubjectToken } from "./authorization.ts";
import type { ApprovalMode } from "./guard-settings.ts";

export interface Caller {
  /**
   * Sessions, requestState and approvals are bound to it: `token:<id>`, `jwt:<issuer>#<subject>`, `local` on stdio.
   * Never made of a token's bytes.
   */
  id: string;
  /** For people and the audit: the token's name, or the JWT's subject with the host of its issuer. */
  label: string;
}

/** The JWT of a caller, for servers whose tokens it is exchanged for. */
export interface CallerJwt extends SubjectToken {
  /**
   * Hash of what it allows besides its subject. Two JWTs of one person with other rights are kept apart: one that may do less
   * must not get what was made of one that may do more.
   */
  rights: string;
}

/**
 * Who the caller is: lasting approvals count for a person, and people sign in to servers for themselves. Undefined for the agent's
 * own user, whatever program they use: whoever started a client on this machine, or can read the token that the gateway made
 * for itself.
 */
export function personOf({ id }: Caller): string | undefined {
  return id === LOCAL_CALLER || id === DEFAULT_TOKEN_CALLER ? undefined : id;
}

/** The one client on stdio. */
export const LOCAL_CALLER = "local";
const TOKEN = "token:";
/** Whoever has the token that the gateway made at its first start. */
export const DEFAULT_TOKEN_CALLER = `${TOKEN}default`;

/** The id of the caller who has a token of the gateway. */
export function tokenCaller(token: string): string {
  return TOKEN + token;
}

/** The id of the token that a caller has. Undefined for callers of another kind. */
export function tokenOf(caller: string): string | undefined {
  return caller.startsWith(TOKEN) ? caller.slice(TOKEN.length) : undefined;
}

/** How many calls a caller may make. What is absent has no limit. */
export interface CallQuota {
  callsPerMinute?: number;
  /** From midnight to midnight, UTC. */
  callsPerDay?: number;
  /** At a time. */
  concurrentCalls?: number;
}

/** What the holder of a named token or of a JWT may do, in addition to the rules of the configuration. */
export interface TokenPolicy {
  tools?: { allow?: string[]; deny?: string[]; approval?: ApprovalMode };
  /** Requests per minute, in place of `gateway.limits.requestsPerMinute`. */
  rateLimit?: number | false;
  /** In place of those of the configuration. */
  quota?: CallQuota;
  /** The agent whose calls the quota counts. Absent: all of them. */
  quotaOf?: string;
  /** Whether tools marked `ownerOnly` may be called. */
  owner?: boolean;
}

/** Every request asks, and nearly always about the same object. */
export function isSamePolicy(
  one: TokenPolicy | undefined,
  other: TokenPolicy | undefined,
): boolean {
  return one === other || canonicalJson(one ?? {}) === canonicalJson(other ?? {});
}
