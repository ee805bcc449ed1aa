// What you may give with one call of a tool, one read of a resource, or one request for a prompt.

import type { AskApproval } from "./approval.ts";
import type { JsonObject } from "./json.ts";
import type { RequestHandlers } from "./request-handlers.ts";

/** What a server of 2026-07-28 wants to know before it goes on, as it sent it; only secrets are removed. */
export interface InputRequired {
  /** The questions by name: `{ method, params }` of an elicitation, a sampling or a roots request. */
  inputRequests: JsonObject;
  /** The server's own; send it back as it is. It may hold anything, so do not show it to anybody. */
  requestState?: unknown;
}

/** The answers to the questions of an `InputRequired`. */
export interface InputResponses {
  /** By the names of the questions. */
  responses: JsonObject;
  /** The `requestState` of the `InputRequired` that is answered. */
  requestState?: unknown;
}

/**
 * `onElicitation` and `onSampling` replace the board's handlers for questions that this request certainly caused.
 * They do not change which capabilities the board advertises to servers.
 */
export interface CallerOptions extends RequestHandlers {
  /**
   * Your own id for the call. Default: a random one. Native tools get it as their first argument; approval
   * requests, and questions that a server asks because of the call, carry it.
   */
  callId?: string;
  signal?: AbortSignal;
  /** Who makes the call, where several people or programs share the board. The audit and approval requests name it. */
  caller?: string;
  /**
   * Is asked instead of the board's `onApproval`, if the call needs approval. An earlier answer `always` still counts,
   * and `always` from here counts for everybody with the same `approvalsOf`.
   */
  onApproval?: AskApproval;
  /**
   * Whose answers `always` count for this call: those that were given to calls with the same value. Absent: those of
   * the agent's own user.
   */
  approvalsOf?: string;
  /**
   * Goes to the server in the `_meta` of the request: `traceparent`, `tracestate`, `baggage`, and keys with a
   * vendor's prefix such as `example.com/key`. Everything else is left out.
   */
  meta?: JsonObject;
  /**
   * Gives you a server's questions as `inputRequired` of the result, instead of asking the handlers. To answer them,
   * make the same call again with the responses. For servers of 2026-07-28: an older server asks the handlers, and
   * refuses responses with UNSUPPORTED.
   */
  input?: "return" | InputResponses;
  /**
   * The capabilities that a server of 2026-07-28 is told with this request: those of the client that you make it for.
   * What the configuration does not allow is left out: sampling without the server's `sampling` setting, and roots that
   * the board does not offer. Without `input`, also what the board has no handler for. Default: the board's own.
   */
  clientCapabilities?: JsonObject;
}
