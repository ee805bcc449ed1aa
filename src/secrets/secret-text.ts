// Makes a secret's value of what a service or a file holds: bytes that must be text, or an object with keys.

import { isJsonObject } from "../model/json.ts";
import { secretUnavailable } from "../model/secret-provider.ts";
import { parseJson } from "../util/parse-json.ts";
import { oneLine } from "../util/text.ts";

const MOST_KEYS = 20;
const LONGEST_KEY = 60;

/**
 * The text of a whole secret, without the line break that `echo` and editors put at its end. Throws for what is no
 * text: a variable, a header and an argument can hold nothing else.
 */
export function secretText(content: Uint8Array | string): string {
  const text = typeof content === "string" ? content : decoded(content);
  if (text.includes("\0")) throw isBinary();
  return text.replace(/\r?\n$/, "");
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw isBinary();
  }
}

/** The value of one key of a JSON object that is written in a text. */
export function keyOfText(text: string, key: string): string {
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return keyOf(parsed, key);
  throw secretUnavailable(`it is not a JSON object, so it has no key ${quoted(key)}`, {
    hint: 'leave out the "#" and its key',
  });
}

/** Without a key: the only one, or `value`. Errors list the keys and never a value. */
export function keyOf(values: Readonly<Record<string, unknown>>, key?: string): string {
  const keys = Object.keys(values);
  const chosen = key ?? (keys.length === 1 ? keys[0] : keys.find((each) => each === "value"));
  if (chosen === undefined) {
    throw secretUnavailable(
      keys.length === 0 ? "it has no keys" : `it has several keys: ${listed(keys)}`,
      { hint: keys.length === 0 ? undefined : 'name one of them behind a "#"' },
    );
  }
  if (!Object.hasOwn(values, chosen)) {
    throw secretUnavailable(
      `it has no key ${quoted(chosen)}; ${keys.length === 0 ? "it has none" : `it has ${listed(keys)}`}`,
    );
  }
  const value = values[chosen];
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw secretUnavailable(`the value of its key ${quoted(chosen)} is not a text`);
}

function isBinary(): Error {
  return secretUnavailable("it is binary, and only text can be used", {
    hint: "store it as text, such as base64",
  });
}

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_KEYS).map(quoted).join(", ");
  return keys.length > MOST_KEYS ? `${shown} and ${keys.length - MOST_KEYS} more` : shown;
}

function quoted(key: string): string {
  return `"${oneLine(key, LONGEST_KEY)}"`;
}
