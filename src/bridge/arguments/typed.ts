// Converts a word from the command line to the value its schema asks for.

import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, tryParseJson } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";
import { choicesOf, listChoices, type SchemaView, typesOf } from "./schema-view.ts";

export type Typed = { ok: true; value: unknown } | { ok: false; problem: string };

/**
 * Where several types fit, the narrowest wins: `5` is a number before it is a text. Without a type in the
 * schema, what parses as JSON is JSON, anything else a text.
 */
export function typed(text: string, schema: JsonObject, view: SchemaView): Typed {
  const alternatives = view.alternatives(schema);
  const attempts = alternatives.flatMap((each) => attemptsFor(each, view));
  for (const { read } of attempts.sort((a, b) => a.rank - b.rank)) {
    const result = read(text);
    if (result !== undefined) return { ok: true, value: result.value };
  }
  return { ok: false, problem: mismatch(text, schema, alternatives, view) };
}

interface Attempt {
  /** Narrow types first. */
  rank: number;
  read: (text: string) => { value: unknown } | undefined;
}

const RANKS = ["choice", "null", "boolean", "integer", "number", "array", "object", "string"];

function attemptsFor(schema: JsonObject, view: SchemaView): Attempt[] {
  const choices = choicesOf(schema);
  if (choices !== undefined) return [{ rank: 0, read: (text) => choose(text, choices) }];
  const types = typesOf(schema);
  const named = types.length === 0 ? RANKS.slice(1) : types;
  return named.map((type) => ({
    rank: RANKS.indexOf(type),
    // Without a type, a word is a text, not a list with one item.
    read: (text) => readAs(type, text, schema, view, types.length > 0),
  }));
}

function readAs(
  type: string,
  text: string,
  schema: JsonObject,
  view: SchemaView,
  isNamed: boolean,
): { value: unknown } | undefined {
  switch (type) {
    case "string":
      return { value: text };
    case "null":
      return text === "null" ? { value: null } : undefined;
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : undefined;
    case "integer":
      return readNumber(text, Number.isSafeInteger);
    case "number":
      return readNumber(text, Number.isFinite);
    case "object":
      return readJson(text, isJsonObject);
    case "array":
      return readJson(text, Array.isArray) ?? (isNamed ? listOfOne(text, schema, view) : undefined);
    default:
      return undefined;
  }
}

/** A single word for a list is its only item; repeating the key adds more. */
function listOfOne(
  text: string,
  schema: JsonObject,
  view: SchemaView,
): { value: unknown } | undefined {
  if (text.startsWith("[")) return undefined;
  const item = typed(text, itemSchema(schema), view);
  return item.ok ? { value: [item.value] } : undefined;
}

export function itemSchema(schema: JsonObject): JsonObject {
  return isJsonObject(schema["items"]) ? schema["items"] : {};
}

function choose(text: string, choices: readonly unknown[]): { value: unknown } | undefined {
  if (choices.includes(text)) return { value: text };
  return readJson(text, (value) => choices.some((choice) => isDeepStrictEqual(choice, value)));
}

/** Only numbers as in JSON: not `0x10`, `Infinity` or an empty text. */
function readNumber(text: string, fits: (value: number) => boolean): { value: number } | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return fits(value) ? { value } : undefined;
}

/** Undefined for a text that is not JSON, or not JSON that fits. */
function readJson(text: string, fits: (value: unknown) => boolean): { value: unknown } | undefined {
  const value = tryParseJson(text);
  return value !== undefined && fits(value) ? { value } : undefined;
}

function mismatch(
  text: string,
  schema: JsonObject,
  alternatives: readonly JsonObject[],
  view: SchemaView,
): string {
  const [first] = alternatives;
  const choices = alternatives.length === 1 && first !== undefined ? choicesOf(first) : undefined;
  const expected = choices === undefined ? view.typeName(schema) : `one of ${listChoices(choices)}`;
  return `expected ${expected}, got '${oneLine(text, 60)}'`;
}
