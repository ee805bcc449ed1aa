// A call as the audit remembers it until it is written, and the line it becomes. Arguments are kept as they
// were when the call was made, and hashed or redacted when the line is made.

import { hash, webcrypto } from "node:crypto";
import type { AuditEntry, LostEntries, SuspiciousResult } from "../../types/audit-entry.ts";
import type { Decision } from "../../types/guard.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { truncate } from "../../../util/text.ts";
import type { ValueRedactor } from "../redact.ts";

/** A client chooses the URI or the name of what it reads, and a line must not grow with it. */
const LONGEST_NAME = 2000;

/** Whose calls are recorded. It is the same for all calls of a tool by one caller, so what lines say about it is made once. */
export class AuditedTool {
  /** The members of a line that name it, as JSON. */
  readonly json: string;
  /** The same as the end of a line about a start. */
  readonly startEnd: Buffer;
  /** If present, the arguments themselves are written, passed through it. */
  readonly redact: ValueRedactor | undefined;

  constructor(names: AuditedNames, redact?: ValueRedactor) {
    const { agent, session, caller, server } = names;
    const tool = truncate(names.tool, LONGEST_NAME);
    this.json = JSON.stringify({ agent, session, caller, server, tool }).slice(1, -1);
    this.startEnd = Buffer.from(`${this.json}}\n`);
    this.redact = redact;
  }
}

export interface AuditedNames {
  agent: string;
  session: string | undefined;
  caller: string | undefined;
  server: string;
  tool: string;
}

/** Many of them wait to be written, so it has few fields. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  time: number;
  of: AuditedTool;
  args: KeptArguments | undefined;
  /** The number of the line about its start, once there is one. */
  startNumber: number | undefined;
  decision: Decision;
  durationMs: number;
  waitedMs: number;
  bytes: number;
  outcome: AuditEntry["outcome"];
}

/**
 * Ends in a newline. Refers to the line about its start, if there is one. Every call pays for this, so the JSON is put
 * together by hand: JSON.stringify quotes whatever comes from outside, and the rest is known to be plain.
 */
export function toLine(record: AuditRecord, startId?: string): string {
  const { of, time, decision, durationMs, waitedMs } = record;
  return (
    `{"type":"call",` +
    (startId === undefined ? "" : `"start":"${startId}",`) +
    `"time":"${isoTime(time)}",${of.json}${shownArguments(record)}` +
    `,"decision":"${decision.verdict}"` +
    (decision.rule === undefined ? "" : `,"rule":${JSON.stringify(decision.rule)}`) +
    `,"durationMs":${hundredths(durationMs)}` +
    (waitedMs > 0 ? `,"waitedMs":${hundredths(waitedMs)}` : "") +
    `,"bytes":${record.bytes}` +
    `,"outcome":"${record.outcome}"}\n`
  );
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** The arguments or their hash as a member of a line, after a comma; empty if there is neither. */
function shownArguments({ args: kept, of }: AuditRecord): string {
  const { argumentsHash, arguments: args } = describeArguments(kept, of.redact);
  if (args !== undefined) return `,"arguments":${JSON.stringify(args)}`;
  return argumentsHash === undefined ? "" : `,"argumentsHash":"${argumentsHash}"`;
}

let lastSecond = Number.NaN;
let upToSecond = "";

/** `toISOString` would take as long as the whole rest of the line, and most calls share their second with the one before. */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    upToSecond = new Date(ms).toISOString().slice(0, -"000Z".length);
    lastSecond = second;
  }
  return `${upToSecond}${String(ms - second * 1000).padStart(3, "0")}Z`;
}

export function suspiciousLine(
  time: number,
  found: Omit<SuspiciousResult, "type" | "time">,
): string {
  const line: SuspiciousResult = {
    type: "suspicious",
    time: new Date(time).toISOString(),
    ...found,
    tool: truncate(found.tool, LONGEST_NAME),
  };
  return `${JSON.stringify(line)}\n`;
}

export function lostLine(time: number, count: number): string {
  const line: LostEntries = { type: "lost", time: new Date(time).toISOString(), count };
  return `${JSON.stringify(line)}\n`;
}

/** A call's arguments as they were when the call was made. A copy of large ones would slow down the call, so they are read when the call has ended. */
export type KeptArguments =
  | {
      kind: "copy";
      json: string;
      /** The text is the one that is hashed: its keys are in order. */
      isCanonical?: boolean;
    }
  | { kind: "large"; args: JsonObject }
  | { kind: "hash"; hash: string };

interface DescribedArguments {
  argumentsHash?: string;
  arguments?: JsonObject;
}

const LARGE = 16 * 1024;
const HASH_LENGTH = 16;
const MOST_FLAT_KEYS = 16;
const LONGEST_FLAT = 512;

/** Never throws. Undefined if the arguments are not JSON. */
export function keepArguments(args: JsonObject): KeptArguments | undefined {
  try {
    const kind = kindOf(args);
    if (kind === "other" && isLarge(args)) return { kind: "large", args };
    return { kind: "copy", json: JSON.stringify(args), isCanonical: kind === "flat and sorted" };
  } catch {
    return undefined;
  }
}

/**
 * The hash of large arguments: of their JSON as it is, since sorting the keys of a million of them would stop the process
 * for seconds. Another thread makes it. Undefined for what cannot be written as JSON. Never rejects.
 */
export async function hashLarge(args: JsonObject): Promise<KeptArguments | undefined> {
  try {
    const bytes = Buffer.from(JSON.stringify(args));
    const digest = await webcrypto.subtle.digest("SHA-256", bytes);
    return { kind: "hash", hash: Buffer.from(digest).toString("hex").slice(0, HASH_LENGTH) };
  } catch {
    return undefined;
  }
}

/** The arguments themselves if there is a `redact` and they are not large, otherwise their hash, if there is one. Never throws. */
export function describeArguments(
  kept: KeptArguments | undefined,
  redact: ValueRedactor | undefined,
): DescribedArguments {
  if (kept === undefined || kept.kind === "large") return {};
  if (kept.kind === "hash") return { argumentsHash: kept.hash };
  try {
    if (redact === undefined && kept.isCanonical) return hashed(kept.json);
    const value: unknown = JSON.parse(kept.json);
    if (!isJsonObject(value)) return hashed(kept.json);
    if (redact !== undefined) return { arguments: redact.value(value) };
    const isFlat = kindOf(value) !== "other";
    return hashed(isFlat ? JSON.stringify(sorted(value)) : canonicalJson(value));
  } catch {
    return {};
  }
}

function hashed(canonical: string): DescribedArguments {
  return { argumentsHash: hash("sha256", canonical).slice(0, HASH_LENGTH) };
}

/** Flat arguments are a few short values, as most calls have: whatever is done with them is cheap. */
function kindOf(args: JsonObject): "flat and sorted" | "flat" | "other" {
  let keys = 0;
  let last = "";
  let isSorted = true;
  for (const key in args) {
    const value = args[key];
    const isShort = typeof value === "string" && value.length <= LONGEST_FLAT;
    if (!isShort && typeof value !== "number" && typeof value !== "boolean") return "other";
    keys += 1;
    if (keys > MOST_FLAT_KEYS || key.length > LONGEST_FLAT || key === "__proto__") return "other";
    if (last > key) isSorted = false;
    last = key;
  }
  return isSorted ? "flat and sorted" : "flat";
}

function sorted(args: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(args).sort()) result[key] = args[key];
  return result;
}

/** The walk ends as soon as the limit is reached, so it also ends in an object that contains itself. */
function isLarge(args: JsonObject): boolean {
  let size = 0;
  const queue: unknown[] = [args];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (typeof next === "string") size += next.length;
    if (typeof next === "object" && next !== null) {
      for (const key in next) {
        size += key.length + 8;
        if (size > LARGE) return true;
        const value = (next as JsonObject)[key];
        if (typeof value === "string") size += value.length;
        else if (typeof value === "object" && value !== null) queue.push(value);
      }
    }
    if (size > LARGE) return true;
  }
  return false;
}
