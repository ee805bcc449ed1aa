// A word from the command line as the value its schema asks for.

import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import { oneLine } from "../../../util/text.ts";
import type { SchemaView } from "./schema-view.ts";
import { choicesOf, listChoices, typeName, typesOf } from "./type-name.ts";

export type Typed = { ok: true; value: unknown } | { ok: false; problem: string };

/**
 * Where several types would do, the narrowest that fits wins: `5` is a number before it is a text. A
 * schema without a type takes what reads as JSON for JSON, anything else for a text.
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
    // Without a type, a word is a text and not a list of one.
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
      return only(readJson(text), isJsonObject);
    case "array":
      return (
        only(readJson(text), Array.isArray) ?? (isNamed ? listOfOne(text, schema, view) : undefined)
      );
    default:
      return undefined;
  }
}

/** One word for a list is its only item: repeating the key adds more. */
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
  const parsed = readJson(text);
  return only(parsed, (value) => choices.some((choice) => isDeepStrictEqual(choice, value)));
}

/** JSON's numbers and no others: not `0x10`, not `Infinity`, not a blank. */
function readNumber(text: string, fits: (value: number) => boolean): { value: number } | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return fits(value) ? { value } : undefined;
}

function readJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function only(
  parsed: { value: unknown } | undefined,
  fits: (value: unknown) => boolean,
): { value: unknown } | undefined {
  return parsed !== undefined && fits(parsed.value) ? parsed : undefined;
}

function mismatch(
  text: string,
  schema: JsonObject,
  alternatives: readonly JsonObject[],
  view: SchemaView,
): string {
  const [first] = alternatives;
  const choices = alternatives.length === 1 && first !== undefined ? choicesOf(first) : undefined;
  const expected =
    choices === undefined ? typeName(schema, view) : `one of ${listChoices(choices)}`;
  return `expected ${expected}, got '${oneLine(text, 60)}'`;
}
