// Changes single values in the text of a JSON object and leaves every other byte as it is: number formats, the order of
// keys, escapes and spaces are the sender's.

import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

interface Span {
  start: number;
  end: number;
}

/** Undefined unless the bytes are a JSON object or array. */
export function parseLine(bytes: Buffer): JsonObject | unknown[] | undefined {
  const value = tryParseJson(bytes.toString("utf8"));
  return isJsonObject(value) || Array.isArray(value) ? value : undefined;
}

/**
 * Whether an object in the text has a key twice. Parsers do not agree which of the two counts, so that the sender could tell
 * one thing to us and another to whom we pass it on. `bytes` must be valid JSON.
 */
export function repeatsKey(bytes: Buffer): boolean {
  return writtenMembers(bytes) !== membersIn(parseLine(bytes));
}

/** Each member has one colon outside of strings. */
function writtenMembers(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) at = endOfString(bytes, at) - 1;
    else if (bytes[at] === COLON) count += 1;
  }
  return count;
}

/** Does not recurse, so that a deep value does not overflow the stack. */
function membersIn(value: unknown): number {
  let count = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== "object" || next === null) continue;
    const inside: unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += inside.length;
    for (const each of inside) if (typeof each === "object") left.push(each);
  }
  return count;
}

/**
 * The bytes of an object with the value at `path` set. Objects on the way that are missing, or are no objects, are
 * made. `bytes` must be valid JSON.
 */
export function withValue(bytes: Buffer, path: readonly string[], value: unknown): Buffer {
  return splice(bytes, path, value, { start: firstByte(bytes, 0), end: bytes.length });
}

function splice(bytes: Buffer, path: readonly string[], value: unknown, object: Span): Buffer {
  const [key = "", ...rest] = path;
  const found = memberOf(bytes, object.start, key);
  if (found.value === undefined) {
    const made = rest.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
    const member = `${found.isEmpty ? "" : ","}${JSON.stringify(key)}:${JSON.stringify(made)}`;
    return replace(bytes, { start: found.end, end: found.end }, member);
  }
  if (rest.length > 0 && bytes[found.value.start] === OPEN_OBJECT) {
    return splice(bytes, rest, value, found.value);
  }
  const made = rest.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  return replace(bytes, found.value, JSON.stringify(made));
}

function replace(bytes: Buffer, { start, end }: Span, text: string): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)]);
}

interface Member {
  /** If a name is there twice, its last member, as every parser takes it. */
  value: Span | undefined;
  isEmpty: boolean;
  /** Where a new member can be put: before the closing brace. */
  end: number;
}

function memberOf(bytes: Buffer, object: number, key: string): Member {
  let at = firstByte(bytes, object + 1);
  let value: Span | undefined;
  let isEmpty = true;
  while (at < bytes.length && bytes[at] !== CLOSE_OBJECT) {
    isEmpty = false;
    const keyEnd = endOfValue(bytes, at);
    const name = tryParseJson(bytes.toString("utf8", at, keyEnd));
    const colon = firstByte(bytes, keyEnd);
    const start = firstByte(bytes, bytes[colon] === COLON ? colon + 1 : colon);
    const end = endOfValue(bytes, start);
    if (name === key) value = { start, end };
    at = firstByte(bytes, end);
    if (bytes[at] === COMMA) at = firstByte(bytes, at + 1);
  }
  return { value, isEmpty, end: at };
}

/** Where the value that starts at `at` ends. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (depth > 0 || !isEnd(byte)) continue;
    else return at;
    if (depth === 0) return at + 1;
  }
  return bytes.length;
}

/** What ends a number or a word. */
function isEnd(byte: number | undefined): boolean {
  return byte === COMMA || byte === COLON || isSpace(byte);
}

/** Behind its closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return bytes.length;
}

function firstByte(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
