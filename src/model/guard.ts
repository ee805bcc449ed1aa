// What passes through the guard: the tool a call is about, the call, and the shape of a stage around it.

import type { JsonObject } from "./json.ts";
import type { ServerScope } from "./server-definition.ts";
import type { RequestHandlers } from "./server-request.ts";
import type { CallOutcome, ToolSource, UpdateListener } from "./tool.ts";

/** A tool as rules see it. Made once per tool, so that stages can prepare for it. */
export interface ToolSubject {
  /** `server/tool` by the server's own name for it, or `native/tool`. Rules are kept for this name. */
  canonical: string;
  publicName: string;
  source: ToolSource;
  /** The layer its server was configured in. */
  origin: ServerScope | "native";
  title?: string;
  description?: string;
  annotations?: JsonObject;
  outputSchema?: JsonObject;
  /** By the native tool's own word; patterns of the configuration come on top. */
  ownerOnly: boolean;
  /** Of everything a model is told about it, and of the definition of its server. */
  hash: string;
}

/** How the guard came to let a call through or not, for the audit. */
export interface Decision {
  verdict: "allowed" | "approved" | "refused";
  /** The rule or the setting that decided, where one did. */
  rule?: string;
}

export interface GuardedCall {
  /** The caller's own, or one that was made up for it. */
  readonly callId: string;
  readonly subject: ToolSubject;
  readonly args: JsonObject;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: UpdateListener | undefined;
  /** Who answers what the server asks for during the call, before the board does. */
  readonly handlers?: RequestHandlers | undefined;
  /** Stages write what they decided. */
  decision: Decision;
}

export type Next = (call: GuardedCall) => Promise<CallOutcome>;

/** Rejects with a PlugboardError to refuse; the caller makes an outcome of it. */
export type Stage = (call: GuardedCall, next: Next) => Promise<CallOutcome>;

/** The stage for one tool, or undefined where it would do nothing: then a call does not pay for it. */
export type StageFor = (subject: ToolSubject) => Stage | undefined;
