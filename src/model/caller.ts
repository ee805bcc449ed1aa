// Who asks the gateway for something, and what they may have.

import type { ApprovalMode } from "./guard-settings.ts";

export interface Caller {
  /**
   * Sessions, requestState and approvals are bound to it: `token:<id>`, `jwt:<issuer>#<subject>`, `local` on stdio.
   * Never made of a token's bytes.
   */
  id: string;
  /** For people and the audit: the token's name or the JWT's subject. */
  label: string;
}

/** What a named token may do, in addition to the rules of the configuration. */
export interface TokenPolicy {
  tools?: { allow?: string[]; deny?: string[]; approval?: ApprovalMode };
  /** Requests per minute, in place of `gateway.limits.requestsPerMinute`. */
  rateLimit?: number | false;
  /** Whether tools marked `ownerOnly` may be called. */
  owner?: boolean;
}
