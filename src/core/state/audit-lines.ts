// The lines of an audit, wherever they are stored.

import type { AuditLine } from "../types/audit-entry.ts";
import { isJsonObject, isTexts, type JsonObject, tryParseJson } from "../types/json.ts";

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

/** Undefined if it is not a line of an audit: torn, another program's, or changed by whoever can write where it is stored. */
export function parseAuditLine(text: string): AuditLine | undefined {
  const line = tryParseJson(text);
  if (!isJsonObject(line)) return undefined;
  return isWhole(line) ? (line as unknown as AuditLine) : undefined;
}

const ALWAYS_TEXT = ["agent", "server", "tool"];
/** Of any line. */
const MAYBE_TEXT =
  "agent session caller server tool start argumentsHash rule file failed visit".split(" ");

function isWhole(line: JsonObject): boolean {
  const { time, arguments: args } = line;
  const areText = (...keys: readonly string[]): boolean =>
    keys.every((key) => typeof line[key] === "string");
  const areCounts = (...keys: readonly string[]): boolean =>
    keys.every((key) => Number.isFinite(line[key]) && Number(line[key]) >= 0);
  if (typeof time !== "string" || Number.isNaN(Date.parse(time))) return false;
  if (!MAYBE_TEXT.every((key) => line[key] === undefined || areText(key))) return false;
  if (args !== undefined && !isJsonObject(args)) return false;
  switch (line["type"]) {
    case "lost":
      return areCounts("count");
    case "suspicious":
      return areText(...ALWAYS_TEXT) && isTexts(line["patterns"]);
    case "decision":
      return areText("caller", "visit", "decided");
    case "start":
      return areText("id", ...ALWAYS_TEXT);
    case "call":
      return (
        areText("decision", "outcome", ...ALWAYS_TEXT) &&
        areCounts("durationMs", "bytes") &&
        (line["waitedMs"] === undefined || areCounts("waitedMs"))
      );
    default:
      return false;
  }
}
