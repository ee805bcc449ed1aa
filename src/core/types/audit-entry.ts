// The lines of an audit file: one for each call when it has ended, before that one for each call that may change
// something, one for each suspicious result, one for each decision of a person in the gateway's page, one where lines are
// missing.

import type { ErrorCode } from "./errors.ts";
import type { Decision } from "./guard.ts";
import type { JsonObject } from "./json.ts";

/** A call that may change something, written before it is sent: if the host is killed, this is what is left of it. */
interface StartedEntry {
  type: "start";
  /** The entry of the same call has it as `start`. */
  id: string;
  time: string;
  agent: string;
  session?: string;
  caller?: string;
  server: string;
  tool: string;
  /** Redacted. Only where the configuration asks for it and the arguments are not large. */
  arguments?: JsonObject;
}

export interface AuditEntry {
  type: "call";
  /** The `id` of the line that was written when the call was sent, if there is one. */
  start?: string;
  /** When the call began, in ISO 8601. */
  time: string;
  agent: string;
  session?: string;
  /** Who made the call, where several people or programs share the board. */
  caller?: string;
  /** `native` for the host's own tools. */
  server: string;
  tool: string;
  /** The beginning of a SHA-256 of the arguments' canonical JSON. */
  argumentsHash?: string;
  /** Redacted. Replaces the hash where the configuration asks for it and the arguments are not large. */
  arguments?: JsonObject;
  decision: Decision["verdict"];
  rule?: string;
  /** How long it took, without `waitedMs`. */
  durationMs: number;
  /** How long it waited for answers of people, or of the host's model. Absent if it did not. */
  waitedMs?: number;
  /** The size of the answer, roughly. */
  bytes: number;
  /**
   * `error` is what the tool itself reported, `input` a server that wants answers first; a code says why the tool gave
   * no answer.
   */
  outcome: "ok" | "error" | "input" | ErrorCode;
}

/** More calls were recorded than could be written. */
export interface LostEntries {
  type: "lost";
  time: string;
  count: number;
}

/** A result that a model was given looks like an attempt to steer it. */
export interface SuspiciousResult {
  type: "suspicious";
  time: string;
  agent: string;
  session?: string;
  server: string;
  tool: string;
  /** Names of what was found. */
  patterns: string[];
}

/** Somebody has decided something in the gateway's page: changed the configuration, answered a call, approved a definition. */
export interface DecisionEntry {
  type: "decision";
  time: string;
  /** Who: the name of the visitor. */
  caller: string;
  /** Tells this visit from others of the same name. */
  visit: string;
  /** In words: `disable docs`. */
  decided: string;
  /** The file that was changed. */
  file?: string;
  agent?: string;
  server?: string;
  tool?: string;
  /** Why it was not done after all. */
  failed?: ErrorCode;
}

export type AuditLine = AuditEntry | StartedEntry | SuspiciousResult | DecisionEntry | LostEntries;
