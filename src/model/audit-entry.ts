// The lines of an audit file: one for each call, one for each suspicious result, one where lines are missing.

import type { ErrorCode } from "./errors.ts";
import type { Decision } from "./guard.ts";
import type { JsonObject } from "./json.ts";

export interface AuditEntry {
  type: "call";
  /** When the call began, in ISO 8601. */
  time: string;
  agent: string;
  session?: string;
  /** `native` for the host's own tools. */
  server: string;
  tool: string;
  /** The beginning of a SHA-256 of the arguments' canonical JSON. */
  argumentsHash?: string;
  /** Redacted. Replaces the hash where the configuration asks for it and the arguments are not large. */
  arguments?: JsonObject;
  decision: Decision["verdict"];
  rule?: string;
  durationMs: number;
  /** The size of the answer, roughly. */
  bytes: number;
  /** `error` is what the tool itself reported; a code says why the tool gave no answer. */
  outcome: "ok" | "error" | ErrorCode;
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

export type AuditLine = AuditEntry | SuspiciousResult | LostEntries;
