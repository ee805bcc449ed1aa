// The lines of an audit file: one per call, one where a result was suspicious, one where lines are missing.

import type { ErrorCode } from "../../model/errors.ts";
import type { Decision } from "../../model/guard.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";

export interface AuditEntry {
  type: "call";
  /** When it began, as ISO 8601. */
  time: string;
  agent: string;
  session?: string;
  /** `native` for the host's own tools. */
  server: string;
  tool: string;
  /** The beginning of a SHA-256 of their canonical JSON. */
  argumentsHash?: string;
  /** Redacted; instead of the hash where that is asked for and they are not large. */
  arguments?: JsonObject;
  decision: Decision["verdict"];
  rule?: string;
  durationMs: number;
  /** About how much the answer held. */
  bytes: number;
  /** `error` is what the tool itself reported; a code is why there was no answer of its own. */
  outcome: "ok" | "error" | ErrorCode;
}

/** There was more to write than could be kept until it was written. */
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

/** Undefined for what is none: a torn line, somebody else's. */
export function readLine(text: string): AuditLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(line) || typeof line["time"] !== "string") return undefined;
  if (line["type"] === "lost") {
    return typeof line["count"] === "number" ? (line as unknown as LostEntries) : undefined;
  }
  if (line["type"] === "suspicious") {
    const isWhole = ["agent", "server", "tool"].every((key) => typeof line[key] === "string");
    return isWhole && Array.isArray(line["patterns"])
      ? (line as unknown as SuspiciousResult)
      : undefined;
  }
  const isCall =
    line["type"] === "call" &&
    TEXTS.every((key) => typeof line[key] === "string") &&
    typeof line["durationMs"] === "number" &&
    typeof line["bytes"] === "number";
  return isCall ? (line as unknown as AuditEntry) : undefined;
}

const TEXTS = ["agent", "server", "tool", "decision", "outcome"];
