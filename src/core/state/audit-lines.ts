// The lines of an audit, wherever they are stored.

import type {
  AuditEntry,
  AuditLine,
  DecisionEntry,
  LostEntries,
  StartedEntry,
  SuspiciousResult,
} from "../types/audit-entry.ts";
import { isJsonObject, tryParseJson } from "../types/json.ts";

/** No line of an audit is longer. Longer ones are skipped. */
export const LONGEST_AUDIT_LINE = 1024 * 1024;

/** The last of them. One about a call that started is left out if there is one about its end. */
export async function* lastLines(
  lines: AsyncIterable<AuditLine>,
  last: number,
): AsyncGenerator<AuditLine> {
  let kept: AuditLine[] = [];
  /** Calls whose end has not been read. */
  const open = new Map<string, AuditLine>();
  const ended = new Set<AuditLine>();
  const trim = (): void => {
    const shown = kept.filter((line) => !ended.has(line));
    ended.clear();
    kept = shown.slice(Math.max(0, shown.length - last));
  };
  let trimAt = last * 2 + 1000;
  for await (const line of lines) {
    if (line.type === "start") open.set(line.id, line);
    if (line.type === "call" && line.start !== undefined) {
      const started = open.get(line.start);
      if (started !== undefined) ended.add(started);
      open.delete(line.start);
    }
    kept.push(line);
    // Trimming only now and then keeps the cost per line low.
    if (kept.length > trimAt) {
      trim();
      trimAt = kept.length + last + 1000;
    }
  }
  trim();
  yield* kept;
}

/** Undefined if it is not a line of an audit: torn, or another program's. */
export function parseAuditLine(text: string): AuditLine | undefined {
  const line = tryParseJson(text);
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
  if (line["type"] === "decision") {
    const isWhole = ["caller", "visit", "decided"].every((key) => typeof line[key] === "string");
    const rest = ["file", "agent", "server", "tool", "failed"].map((key) => typeof line[key]);
    const isPlain = rest.every((type) => type === "string" || type === "undefined");
    return isWhole && isPlain ? (line as unknown as DecisionEntry) : undefined;
  }
  if (line["type"] === "start") {
    const isWhole = ["id", "agent", "server", "tool"].every((key) => typeof line[key] === "string");
    return isWhole ? (line as unknown as StartedEntry) : undefined;
  }
  const isCall =
    line["type"] === "call" &&
    ["agent", "server", "tool", "decision", "outcome"].every(
      (key) => typeof line[key] === "string",
    ) &&
    typeof line["durationMs"] === "number" &&
    typeof line["bytes"] === "number";
  return isCall ? (line as unknown as AuditEntry) : undefined;
}
