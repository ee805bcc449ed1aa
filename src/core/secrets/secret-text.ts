// Makes a value of what a provider gave: text without the newline at its end, or one key of a JSON object.

import { isJsonObject, tryParseJson } from "../types/json.ts";
import { secretUnavailable } from "../types/secret-provider.ts";
import type { PlugboardError } from "../types/errors.ts";
import { oneLine } from "../../util/text.ts";

/** More keys than this are not listed. */
const MOST_KEYS = 20;

/** Throws SECRET_UNAVAILABLE for bytes that are not text. One newline at the end is cut off: files and programs add it. */
export function secretText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw secretUnavailable("the value is binary data, not text");
  }
  return withoutNewline(text);
}

export function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** One key of a JSON object. Throws SECRET_UNAVAILABLE, naming the keys that there are. Never quotes a value. */
export function keyOfJson(text: string, key: string): string {
  const parsed = tryParseJson(text);
  if (!isJsonObject(parsed)) {
    throw secretUnavailable(`the value is not a JSON object, so it has no key ${quoted(key)}`);
  }
  return valueOfKey(parsed, key);
}

/** The same for an object. Numbers and switches become text; anything deeper stays JSON. `told` are the keys that may be named. */
export function valueOfKey(
  values: Readonly<Record<string, unknown>>,
  key: string,
  told: readonly string[] = Object.keys(values),
): string {
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (typeof value === "string") return value;
  if (value === undefined || value === null) throw noSuchKey(key, told);
  return JSON.stringify(value);
}

function noSuchKey(key: string, keys: readonly string[]): PlugboardError {
  return secretUnavailable(`there is no key ${quoted(key)}; ${keysThere(keys)}`);
}

/** "the keys are a, b": the names of keys are no secrets. */
export function keysThere(keys: readonly string[]): string {
  if (keys.length === 0) return "there are no keys";
  const more = keys.length > MOST_KEYS ? ` and ${keys.length - MOST_KEYS} more` : "";
  return `the keys are ${keys.slice(0, MOST_KEYS).map(quoted).join(", ")}${more}`;
}

function quoted(key: string): string {
  return JSON.stringify(oneLine(key, 60));
}
