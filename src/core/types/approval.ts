// The question whether a tool may be called: what the person who answers sees, and the possible answers.

import type { Caller } from "./caller.ts";
import type { ContentKind } from "./content-pattern.ts";
import type { JsonObject } from "./json.ts";

/** What the tool's server says about the tool. Only believe it if `trusted` is set. */
export interface ToolHints {
  readOnly?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}

/** The labels in a tool's annotations, as far as they are well formed. */
export function hintsIn(annotations: JsonObject = {}): ToolHints {
  const hints: ToolHints = {};
  for (const hint of ["readOnly", "destructive", "idempotent", "openWorld"] as const) {
    const value = annotations[`${hint}Hint`];
    if (typeof value === "boolean") hints[hint] = value;
  }
  return hints;
}

/** Whether they say that the tool destroys nothing. Where they contradict each other, they do not. */
export function saysHarmless({ readOnly, destructive }: ToolHints): boolean {
  return destructive !== true && (readOnly === true || destructive === false);
}

/** Whether they say that the tool only reads. */
export function saysReadOnly({ readOnly, destructive }: ToolHints): boolean {
  return destructive !== true && readOnly === true;
}

export interface ApprovalRequest {
  /** The id of the call that waits for the answer: yours if you passed one, else a generated one. */
  callId: string;
  /** Who makes the call, if the call says so. */
  caller?: string;
  /** The canonical name, `server/tool` or `native/tool`. */
  tool: string;
  /** Hash of the definitions of the tool and its server. The answer is for these. */
  hash: string;
  publicName: string;
  /** What is to be read, if it is not a tool that is to be called. */
  content?: ContentKind;
  /** Absent for native tools. */
  server?: string;
  title?: string;
  description?: string;
  /** Without the board's secrets. */
  args: JsonObject;
  hints: ToolHints;
  /** True for native tools and for servers configured as `trusted`: you can believe their labels. */
  trusted: boolean;
  /** The labels say that it is harmless. If they were believed, the call would need no approval. */
  believable?: true;
  /** Why approval is needed. */
  reason: string;
  /** The setting that asks for it. */
  rule?: string;
  /**
   * How long the answer `always` holds: until the definition of the tool or of its server changes, also in later
   * runs; or until the board closes, since nothing about a session's own server or a native tool is
   * written to disk.
   */
  always: "until-changed" | "until-closed";
  /** If nobody can be asked here, the call waits for somebody who looks at the gateway's page: reject with NOT_APPROVED. */
  mayWait?: boolean;
}

/** An answer `always`, as it is kept on disk. */
export interface StoredApproval {
  agent: string;
  /** The configuration file that the agent is from. */
  config?: string;
  /** The canonical name. */
  tool: string;
  /** Hash of the definitions of the tool and its server. */
  hash: string;
  /** The only caller it is for. Absent: the agent's own user. */
  caller?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** `always` approves all further calls of this tool, as long as the request says. */
export type ApprovalAnswer = "once" | "always" | "refuse";

/**
 * Asks a person whether a tool may be called, one question at a time. The request is frozen, and the call is made with
 * exactly these arguments; only secrets are hidden in them. The signal aborts when the call has
 * ended and the answer no longer matters. If you reject, the call is refused; if you reject with a
 * PlugboardError, the caller gets that error.
 */
export type AskApproval = (
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** Asks about a call whose own client cannot. `tell` says to that client what its call waits for. */
export type AskElsewhere = (
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
  asker: { caller: Caller; tell: (message: string) => void },
) => ApprovalAnswer | Promise<ApprovalAnswer>;
