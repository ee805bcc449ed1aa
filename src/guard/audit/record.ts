// A call as the audit remembers it until it is written, and the line that it becomes.

import type { Decision } from "../../model/guard.ts";
import { describeArguments, type KeptArguments, type Redact } from "./arguments.ts";
import type { AuditEntry, LostEntries, SuspiciousResult } from "./entry.ts";

export interface AuditRecord {
  /** Milliseconds since the epoch. */
  time: number;
  agent: string;
  session: string | undefined;
  server: string;
  tool: string;
  args: KeptArguments | undefined;
  /** Present: the arguments are written, by way of it. */
  redact: Redact | undefined;
  decision: Decision;
  durationMs: number;
  bytes: number;
  outcome: AuditEntry["outcome"];
}

/**
 * Ends in a newline. Written by hand, since every call pays for it: what comes from outside is quoted by
 * JSON.stringify, and the rest is ours.
 */
export function toLine(record: AuditRecord): string {
  const { session, decision, durationMs } = record;
  const { argumentsHash, arguments: args } = describeArguments(record.args, record.redact);
  return (
    `{"type":"call","time":"${isoTime(record.time)}","agent":${quoted(record.agent)}` +
    (session === undefined ? "" : `,"session":${quoted(session)}`) +
    `,"server":${quoted(record.server)},"tool":${quoted(record.tool)}` +
    (argumentsHash === undefined ? "" : `,"argumentsHash":"${argumentsHash}"`) +
    (args === undefined ? "" : `,"arguments":${JSON.stringify(args)}`) +
    `,"decision":"${decision.verdict}"` +
    (decision.rule === undefined ? "" : `,"rule":${quoted(decision.rule)}`) +
    `,"durationMs":${Math.round(durationMs * 100) / 100},"bytes":${record.bytes}` +
    `,"outcome":"${record.outcome}"}\n`
  );
}

/** The same few names in every line. */
const QUOTED = new Map<string, string>();
const MOST_QUOTED = 2000;

function quoted(text: string): string {
  const known = QUOTED.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  if (QUOTED.size >= MOST_QUOTED) QUOTED.clear();
  if (text.length <= 256) QUOTED.set(text, json);
  return json;
}

let second = Number.NaN;
let prefix = "";

/** As `toISOString`, which takes as long as all the rest: most calls are in the second of the one before. */
function isoTime(ms: number): string {
  const at = Math.floor(ms / 1000);
  if (at !== second) {
    prefix = new Date(at * 1000).toISOString().slice(0, -4);
    second = at;
  }
  return `${prefix}${String(Math.floor(ms) - at * 1000).padStart(3, "0")}Z`;
}

export function suspiciousLine(
  time: number,
  found: Omit<SuspiciousResult, "type" | "time">,
): string {
  const line: SuspiciousResult = {
    type: "suspicious",
    time: new Date(time).toISOString(),
    ...found,
  };
  return `${JSON.stringify(line)}\n`;
}

export function lostLine(time: number, count: number): string {
  const line: LostEntries = { type: "lost", time: new Date(time).toISOString(), count };
  return `${JSON.stringify(line)}\n`;
}
