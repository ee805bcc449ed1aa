// Runs a schema over a value and says in sentences what is wrong: "is a string; expected true or false".
// Values that may be secret are never quoted.

import type { z } from "zod";
import { isJsonObject } from "../model/json.ts";
import { closest } from "../util/closest.ts";
import type { UnknownKeysParams } from "./compound.ts";
import { atKey, atValue } from "./finding.ts";
import type { Finding, Path } from "./finding.ts";
import { alternatives, quote } from "./quote.ts";

export interface Checked<Data> {
  /** Only where nothing is wrong. */
  data?: Data;
  findings: Finding[];
}

type Issue = z.core.$ZodIssue;

/** A longer list of valid keys would bury the message. */
const MOST_KEYS_LISTED = 12;

/** Bounds the work for a file that is nothing but unknown keys. */
const MOST_SUGGESTIONS = 100;

/** `path` leads from the document's root to `value`. */
export function check<Data>(schema: z.ZodType<Data>, value: unknown, path: Path): Checked<Data> {
  const result = schema.safeParse(value);
  if (result.success) return { data: result.data, findings: [] };
  return { findings: result.error.issues.flatMap((issue) => explain(issue, value, path)) };
}

function explain(issue: Issue, root: unknown, base: Path): Finding[] {
  const steps = toPath(issue.path);
  const path = [...base, ...steps];
  const value = valueAt(root, steps);
  if (issue.code === "custom") {
    if (isUnknownKeys(issue.params)) return unknownKeys(issue.params, value, path);
    if (issue.params?.["at"] === "key") return [atKey(path, issue.message)];
    if (issue.params?.["at"] === "value") return [atValue(path, issue.message)];
  }
  return [wrongValue(issue, value, path)];
}

function isUnknownKeys(params: unknown): params is UnknownKeysParams {
  return isJsonObject(params) && "knownKeys" in params;
}

function unknownKeys(params: UnknownKeysParams, value: unknown, path: Path): Finding[] {
  const { knownKeys, advice } = params;
  const unknown = Object.keys(isJsonObject(value) ? value : {}).filter(
    (key) => !knownKeys.includes(key),
  );
  return unknown.map((key, index) => {
    const place = [...path, key];
    if (Object.hasOwn(advice, key)) return atKey(place, `unknown key; ${advice[key]}`);
    const meant = index < MOST_SUGGESTIONS ? closest(key, knownKeys) : undefined;
    if (meant !== undefined) return atKey(place, "unknown key", meant);
    const listed = knownKeys.filter((known) => !known.startsWith("$"));
    const isShort = listed.length <= MOST_KEYS_LISTED;
    return atKey(place, isShort ? `unknown key; expected ${alternatives(listed)}` : "unknown key");
  });
}

function wrongValue(issue: Issue, value: unknown, path: Path): Finding {
  const message = `${describe(value, issue)}; expected ${issue.message}`;
  if (value === undefined) return atKey(path, message);
  const isNearWord = issue.code === "invalid_value" && typeof value === "string";
  return atValue(path, message, isNearWord ? closest(value, issue.values.map(String)) : undefined);
}

function describe(value: unknown, issue: Issue): string {
  switch (typeof value) {
    case "undefined":
      return "is missing";
    case "boolean":
      return `is ${value}`;
    case "number":
      return expectsNumber(issue) ? `is ${value}` : "is a number";
    case "string":
      if (value === "") return "is an empty string";
      // It should have been one of a few words, so it is no secret.
      return issue.code === "invalid_value" ? `is ${quote(value)}` : "is a string";
    case "object":
      if (value === null) return "is null";
      return Array.isArray(value) ? "is a list" : "is an object";
    default:
      return `is a ${typeof value}`;
  }
}

function expectsNumber(issue: Issue): boolean {
  switch (issue.code) {
    case "too_small":
    case "too_big":
      return true;
    case "invalid_type":
      return issue.expected === "number" || issue.expected === "int";
    default:
      return false;
  }
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function toPath(path: readonly PropertyKey[]): Path {
  return path.map((step) => (typeof step === "number" ? step : String(step)));
}
