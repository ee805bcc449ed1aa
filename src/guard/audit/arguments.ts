// A call's arguments for the audit: kept as they were when the call was made, hashed or redacted later.

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { canonicalJson } from "../../util/canonical-json.ts";

export interface Redact {
  value<T>(value: T): T;
}

/** Copying what is large would cost the call; it is read when the audit is written. */
export type KeptArguments =
  | { kind: "copy"; json: string }
  /** What most are: a few short values by name. A copy of those is the cheapest to keep. */
  | { kind: "flat"; args: JsonObject }
  | { kind: "large"; args: JsonObject };

export interface DescribedArguments {
  argumentsHash?: string;
  arguments?: JsonObject;
}

const LARGE = 16 * 1024;
const HASH_LENGTH = 16;
const MOST_FLAT_KEYS = 16;
const LONGEST_FLAT = 512;

/** Never throws; undefined for what is no JSON. */
export function keepArguments(args: JsonObject): KeptArguments | undefined {
  if (isFlat(args)) return { kind: "flat", args: { ...args } };
  if (isLarge(args)) return { kind: "large", args };
  try {
    return { kind: "copy", json: JSON.stringify(args) };
  } catch {
    return undefined;
  }
}

/** With `redact` the arguments themselves, unless they are large; else their hash. Never throws. */
export function describeArguments(
  kept: KeptArguments | undefined,
  redact: Redact | undefined,
): DescribedArguments {
  if (kept === undefined) return {};
  try {
    if (kept.kind === "flat") {
      return redact === undefined
        ? hashed(JSON.stringify(sorted(kept.args)))
        : { arguments: redact.value(kept.args) };
    }
    const json = kept.kind === "large" ? JSON.stringify(kept.args) : kept.json;
    const value: unknown = JSON.parse(json);
    if (redact !== undefined && kept.kind !== "large" && isJsonObject(value)) {
      return { arguments: redact.value(value) };
    }
    return hashed(canonicalJson(value));
  } catch {
    return {};
  }
}

function hashed(canonical: string): DescribedArguments {
  return { argumentsHash: hash("sha256", canonical).slice(0, HASH_LENGTH) };
}

function isFlat(args: JsonObject): boolean {
  let keys = 0;
  for (const key in args) {
    const value = args[key];
    const isShort = typeof value === "string" && value.length <= LONGEST_FLAT;
    if (!isShort && typeof value !== "number" && typeof value !== "boolean") return false;
    keys += 1;
    if (keys > MOST_FLAT_KEYS || key.length > LONGEST_FLAT || key === "__proto__") return false;
  }
  return true;
}

/** The same, with its keys in their order. */
function sorted(args: JsonObject): JsonObject {
  let last = "";
  let isSorted = true;
  for (const key in args) {
    isSorted &&= last <= key;
    last = key;
  }
  if (isSorted) return args;
  const result: JsonObject = {};
  for (const key of Object.keys(args).sort()) result[key] = args[key];
  return result;
}

/** By a walk that ends as soon as it knows, in an object that contains itself too. */
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
