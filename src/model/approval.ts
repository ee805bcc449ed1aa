// The question whether a call may be made: what the person who answers gets to see, and the answers.

import type { JsonObject } from "./json.ts";

/** What the tool says of itself. Only as good as its server: see `trusted`. */
export interface ToolHints {
  readOnly?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}

export interface ApprovalRequest {
  /** Of the call that waits for the answer: the caller's own id, where it gave one. */
  callId: string;
  /** The canonical `server/tool` or `native/tool`. */
  tool: string;
  publicName: string;
  /** Absent for the host's own tools. */
  server?: string;
  title?: string;
  description?: string;
  args: JsonObject;
  hints: ToolHints;
  /** Whether the hints may be believed: of a server marked `trusted`, or of a native tool. */
  trusted: boolean;
  /** Why there is a question at all. */
  reason: string;
}

/** `always` holds for this tool until its definition changes. */
export type ApprovalAnswer = "once" | "always" | "refuse";

/**
 * Asks whoever can answer. Called for one question at a time. The signal aborts when the call is gone
 * and nobody waits for the answer any more; a rejection counts as a refusal, and one with a PlugboardError is told
 * as it stands.
 */
export type AskApproval = (
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
) => ApprovalAnswer | Promise<ApprovalAnswer>;
