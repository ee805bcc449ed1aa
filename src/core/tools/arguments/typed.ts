// Converts a word from the command line to the value its schema asks for.

import { isDeepStrictEqual } from "node:util";
import {
  isJsonObject,
  isOfType,
  type JsonObject,
  objectIn,
  tryParseJson,
} from "../../types/json.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";
import { choicesOf, listChoices, type SchemaView, typesOf } from "./schema-view.ts";

export type Typed =
  /** `odd` says what is wrong with the schema, where the value could not be read by it alone. */
  { ok: true; value: unknown; odd?: string } | { ok: false; problem: string };

/**
 * Where several types fit, the narrowest wins: `5` is a number before it is a text. Without a type in the
 * schema, what parses as JSON is JSON, anything else a text; so too where the schema makes no sense.
 */
export function typed(text: string, schema: JsonObject, view: SchemaView): Typed {
  return typedWithin(text, schema, { view, tried: new Set() });
}

/** The schema, and the items of lists that the text was tried as already: lists can consist of themselves. */
interface Within {
  view: SchemaView;
  tried: Set<JsonObject>;
}

function typedWithin(text: string, schema: JsonObject, within: Within): Typed {
  const { view } = within;
  const alternatives = view.alternatives(schema);
  const attempts = alternatives.flatMap((each) => attemptsFor(each, within));
  for (const { read, odd } of attempts.sort((a, b) => a.rank - b.rank)) {
    const result = read(text);
    if (result !== undefined) return { ok: true, odd, ...result };
  }
  return {
    ok: false,
    problem: mismatch(text, `'${oneLine(text, LONGEST_WORD)}'`, schema, view),
  };
}

/** What is wrong with a schema that no value can fit, or that cannot be read. Undefined for a sound one. */
export function oddityIn(schema: JsonObject, view: SchemaView): string | undefined {
  return view
    .alternatives(schema)
    .map(oddityOf)
    .find((each) => each !== undefined);
}

/** Says what is wrong with a value given as JSON that none of the schema's alternatives allows. */
export function misfit(value: unknown, schema: JsonObject, view: SchemaView): string {
  return mismatch(value, word(value), schema, view);
}

/** Whether a schema without alternatives allows the type of a value, or lists the value. */
export function allows(schema: JsonObject, value: unknown): boolean {
  if (schema["nullable"] === true && value === null) return true;
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.some((each) => isDeepStrictEqual(each, value));
  const types = typesOf(schema);
  return types.length === 0 || isOfType(value, types);
}

interface Read {
  value: unknown;
  odd?: string;
}

interface Attempt {
  /** Narrow types first. */
  rank: number;
  read: (text: string) => Read | undefined;
  odd?: string;
}

const RANKS = ["choice", "null", "boolean", "integer", "number", "array", "object", "string"];
const TYPES: readonly string[] = RANKS.slice(1);
const LONGEST_WORD = 60;
/** A server may list any number of choices. */
const MOST_COMPARED = 1000;
/** In each other, or beside each other as alternatives. */
const MOST_LISTS = 100;

function attemptsFor(schema: JsonObject, within: Within): Attempt[] {
  const odd = oddityOf(schema);
  const types = typesOf(schema).filter((type) => TYPES.includes(type));
  const choices = choicesOf(schema);
  const attempts: Attempt[] = [];
  if (choices !== undefined) attempts.push({ rank: 0, read: (text) => choose(text, choices), odd });
  else attempts.push(...types.map((type) => attemptFor(type, schema, within, odd)));
  // OpenAPI's way to allow null.
  if (schema["nullable"] === true) attempts.push(attemptFor("null", schema, within, odd));
  if (odd !== undefined && choices !== undefined) {
    attempts.push(...types.map((type) => attemptFor(type, schema, within, odd)));
  }
  if (odd === undefined && (choices !== undefined || types.length > 0)) return attempts;
  // Without a type, a word is a text, not a list with one item. What fits another alternative goes first.
  const late = odd === undefined ? 0 : RANKS.length;
  const guesses = TYPES.map((type) => attemptFor(type, {}, within, odd, false));
  return [...attempts, ...guesses.map((each) => ({ ...each, rank: each.rank + late }))];
}

function attemptFor(
  type: string,
  schema: JsonObject,
  within: Within,
  odd: string | undefined,
  isNamed = true,
): Attempt {
  const read = (text: string): Read | undefined => readAs(type, text, schema, within, isNamed);
  return { rank: RANKS.indexOf(type), read, odd };
}

function oddityOf(schema: JsonObject): string | undefined {
  const { $ref, default: preset } = schema;
  if ($ref !== undefined) return `it refers to ${word($ref)}, which leads nowhere`;
  const types = typesOf(schema);
  const unknown = types.find((type) => !TYPES.includes(type));
  if (unknown !== undefined) return `${word(unknown)} is no type in JSON Schema`;
  const choices = choicesOf(schema);
  if (choices === undefined) return undefined;
  if (choices.length === 0) return "its list of choices is empty";
  if (types.length > 0 && !choices.some((choice) => isOfType(choice, types))) {
    return `none of its choices is of its type, ${types.join(" or ")}`;
  }
  const isComplete =
    preset === undefined || choices.some((each) => isDeepStrictEqual(each, preset));
  return isComplete ? undefined : `its default, ${word(preset)}, is not one of its choices`;
}

/** A value in a message. */
export function word(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? String(value), LONGEST_WORD);
}

function readAs(
  type: string,
  text: string,
  schema: JsonObject,
  within: Within,
  isNamed: boolean,
): Read | undefined {
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
      return (
        readJson(text, Array.isArray) ?? (isNamed ? listOfOne(text, schema, within) : undefined)
      );
    default:
      return undefined;
  }
}

/** A single word for a list is its only item; repeating the key adds more. */
function listOfOne(text: string, schema: JsonObject, within: Within): Read | undefined {
  const items = within.view.resolve(itemSchema(schema));
  if (text.startsWith("[") || within.tried.has(items) || within.tried.size >= MOST_LISTS) {
    return undefined;
  }
  within.tried.add(items);
  const item = typedWithin(text, items, within);
  if (!item.ok) return undefined;
  return { value: [item.value], odd: item.odd };
}

export function itemSchema(schema: JsonObject): JsonObject {
  return objectIn(schema["items"]);
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

function mismatch(value: unknown, got: string, schema: JsonObject, view: SchemaView): string {
  const alternatives = view.alternatives(schema);
  const [first] = alternatives;
  const choices = alternatives.length === 1 && first !== undefined ? choicesOf(first) : undefined;
  const expected = choices === undefined ? view.typeName(schema) : `one of ${listChoices(choices)}`;
  const meant = typeof value === "string" ? nearestChoice(value, alternatives, view) : undefined;
  const help = meant === undefined ? "" : `; did you mean '${oneLine(meant, LONGEST_WORD)}'?`;
  return `expected ${expected}, got ${got}${help}`;
}

/** Among the texts that may be given, as the value itself or as an item of a list. */
function nearestChoice(
  text: string,
  alternatives: readonly JsonObject[],
  view: SchemaView,
): string | undefined {
  const items = alternatives.filter((each) => typesOf(each).includes("array")).map(itemSchema);
  const all = [...alternatives, ...items.flatMap((each) => view.alternatives(each))];
  const choices = all.flatMap((each) => choicesOf(each) ?? []).slice(0, MOST_COMPARED);
  return closest(
    text,
    choices.filter((each) => typeof each === "string"),
  );
}
