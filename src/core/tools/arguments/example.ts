// Makes an example of a call's arguments from a tool's schema: what must be given, with values that fit. Whoever shows
// one checks it against the schema first, since not every rule of a schema can be followed here.

import { isDeepStrictEqual } from "node:util";
import { isJsonObject, isOfType, type JsonObject, objectIn } from "../../types/json.ts";
import { escapedJson, visible } from "../../../util/visible.ts";
import { assembleArguments } from "./assemble.ts";
import { invalidArguments } from "./invalid.ts";
import { parseArguments } from "./parse.ts";
import { choicesOf, parts, SchemaView, typesOf } from "./schema-view.ts";

/** Stands for any text. Whether it also matches a pattern is for the check to say. */
const WORD = "example";
const DEEPEST = 8;
/** An example is read by a person. */
const MOST_STEPS = 2000;
const MOST_ITEMS = 20;
const LONGEST_TEXT = 500;
const LONGEST_PRESET = 500;

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "ada@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  "uri-reference": "https://example.com/",
  url: "https://example.com/",
  uuid: "6f1c0b64-3b5a-4c1e-9a9d-2d7f6f4d9b11",
};

/** Which parts of a schema an example follows, the best first. */
const MANNERS = [
  { presets: true, optional: false },
  { presets: false, optional: false },
  { presets: false, optional: true },
] as const;

type Manner = (typeof MANNERS)[number];

/** Several tries, the best first. None where the schema cannot be satisfied, or only by something very large. */
export function exampleArguments(schema: JsonObject): JsonObject[] {
  const tries = MANNERS.map((manner) => new ExampleMaker(schema, manner).make());
  return tries.filter(isJsonObject);
}

/** The words that give these arguments on a command line, each to be quoted for the shell. */
export async function exampleWords(args: JsonObject, schema: JsonObject): Promise<string[]> {
  const words: string[] = [];
  for (const [key, value] of Object.entries(args)) {
    const own = await wordsFor(key, value, schema);
    if (own === undefined) return [escapedJson(args)];
    words.push(...own);
  }
  return words;
}

/** Undefined for a key that cannot be given on its own. */
async function wordsFor(
  key: string,
  value: unknown,
  schema: JsonObject,
): Promise<string[] | undefined> {
  // The command line would take it for an option.
  if (key.startsWith("-")) return undefined;
  for (const words of [readable(key, value), [`${key}:=${escapedJson(value)}`]]) {
    if (words.length === 0 || words.some((word) => visible(word) !== word)) continue;
    if (isDeepStrictEqual(await readBack(words, schema), { [key]: value })) return words;
  }
  return undefined;
}

/** `key=text`, a word for each item of a list, a word for each field of an object; none for what holds more. */
function readable(key: string, value: unknown): string[] {
  const plain = (each: unknown): string => (typeof each === "string" ? each : JSON.stringify(each));
  const isPlain = (each: unknown): boolean => typeof each !== "object" || each === null;
  if (isPlain(value)) return [`${key}=${plain(value)}`];
  const entries = Object.entries(value as object);
  if (!entries.every(([, each]) => isPlain(each))) return [];
  return entries.map(
    ([name, each]) => `${Array.isArray(value) ? key : `${key}.${name}`}=${plain(each)}`,
  );
}

async function readBack(words: readonly string[], schema: JsonObject): Promise<unknown> {
  const nothing = async (): Promise<never> => {
    throw invalidArguments(["an example reads no file"]);
  };
  try {
    const given = await parseArguments(words, { file: nothing, stdin: nothing });
    return JSON.parse(JSON.stringify(assembleArguments(given, schema, "").args));
  } catch {
    return undefined;
  }
}

class ExampleMaker {
  readonly #root: JsonObject;
  readonly #view: SchemaView;
  readonly #manner: Manner;
  #steps = 0;

  constructor(root: JsonObject, manner: Manner) {
    this.#root = root;
    this.#view = new SchemaView(root);
    this.#manner = manner;
  }

  make(): unknown {
    return this.#value({ type: "object", ...this.#root }, 0)?.value;
  }

  /** `variant` tells the items of a list apart. */
  #value(schema: JsonObject, depth: number, variant = 0): { value: unknown } | undefined {
    this.#steps += 1;
    if (depth > DEEPEST || this.#steps > MOST_STEPS) return undefined;
    const whole = this.#whole(schema, depth);
    if (whole === undefined) return undefined;
    const { anyOf, oneOf, ...common } = whole;
    const branches = [...parts({ anyOf }, "anyOf"), ...parts({ oneOf }, "oneOf")];
    if (branches.length === 0) return this.#plain(common, depth, variant);
    const isNull = (branch: JsonObject): boolean => branch["type"] === "null";
    const sorted = [...branches].sort((a, b) => Number(isNull(a)) - Number(isNull(b)));
    for (const branch of sorted) {
      const merged = merge(common, branch);
      const found = merged && this.#value(merged, depth + 1, variant);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** With everything that it refers to and consists of. */
  #whole(schema: JsonObject, depth: number): JsonObject | undefined {
    let whole = schema;
    for (let links = 0; links <= DEEPEST; links += 1) {
      const { $ref, allOf, ...rest } = whole;
      if ($ref === undefined && allOf === undefined) return whole;
      const added = $ref === undefined ? [] : [this.#view.target($ref)];
      let merged: JsonObject | undefined = rest;
      for (const part of [...added, ...parts({ allOf }, "allOf")]) {
        this.#steps += 1;
        if (part === undefined || this.#steps > MOST_STEPS) return undefined;
        merged = merged && merge(merged, part);
      }
      if (merged === undefined || depth > DEEPEST) return undefined;
      whole = merged;
    }
    return undefined;
  }

  #plain(schema: JsonObject, depth: number, variant: number): { value: unknown } | undefined {
    const choices = choicesOf(schema);
    const usable = choices?.filter((each) => fitsType(each, schema));
    if (usable !== undefined) {
      return usable.length === 0 ? undefined : { value: usable[variant % usable.length] };
    }
    const preset = this.#manner.presets ? presetOf(schema) : undefined;
    if (preset !== undefined && variant === 0 && fitsType(preset.value, schema)) return preset;
    const types = typesOf(schema);
    const type = types.find((each) => each !== "null") ?? types[0] ?? "string";
    switch (type) {
      case "null":
        return { value: null };
      case "string":
        return textFor(schema, variant);
      case "integer":
      case "number":
        return numberFor(schema, type === "integer", variant);
      case "boolean":
        return { value: variant % 2 === 0 };
      case "array":
        return this.#list(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return undefined;
    }
  }

  #list(schema: JsonObject, depth: number): { value: unknown[] } | undefined {
    const { items, prefixItems, minItems, maxItems } = schema;
    const first = [prefixItems, items].find((each) => Array.isArray(each)) ?? [];
    const most = typeof maxItems === "number" ? maxItems : Infinity;
    const least = typeof minItems === "number" ? minItems : 0;
    const count = Math.min(Math.max(least, first.length, 1), most);
    if (count > MOST_ITEMS) return undefined;
    const list: unknown[] = [];
    for (let at = 0; at < count; at += 1) {
      const own: unknown = first[at] ?? (Array.isArray(items) ? schema["additionalItems"] : items);
      if (own === false) break;
      const variant = at < first.length ? 0 : at;
      const item = this.#value(objectIn(own), depth + 1, variant);
      if (item === undefined) return list.length >= least ? { value: list } : undefined;
      list.push(item.value);
    }
    return { value: list };
  }

  #object(schema: JsonObject, depth: number): { value: JsonObject } | undefined {
    const properties = objectIn(schema["properties"]);
    const { required, additionalProperties, minProperties } = schema;
    const needed = new Set(Array.isArray(required) ? required : []);
    const least = typeof minProperties === "number" ? minProperties : 0;
    const value: JsonObject = {};
    const set = (name: string, item: unknown): void =>
      void Object.defineProperty(value, name, {
        value: item,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    for (const name of needed) {
      if (typeof name !== "string") continue;
      const own: unknown = Object.hasOwn(properties, name)
        ? properties[name]
        : additionalProperties;
      const part = objectIn(own);
      // On the command line, what has a default is left out.
      if (depth === 0 && this.#view.note(part, "default") !== undefined) continue;
      const item = this.#value(part, depth + 1);
      if (item === undefined) return undefined;
      set(name, item.value);
    }
    for (const [name, part] of Object.entries(properties)) {
      const count = Object.keys(value).length;
      // An empty object inside another shows nothing.
      const isWanted = this.#manner.optional || count < least || (depth > 0 && count === 0);
      if (!isWanted || Object.hasOwn(value, name) || needed.has(name)) continue;
      const item = this.#value(objectIn(part), depth + 1);
      if (item !== undefined) set(name, item.value);
    }
    for (let at = Object.keys(value).length; at < Math.min(least, MOST_ITEMS); at += 1) {
      if (additionalProperties === false) return undefined;
      const own = objectIn(additionalProperties);
      const item = this.#value(own, depth + 1, at);
      if (item === undefined) return undefined;
      set(`${WORD}${at + 1}`, item.value);
    }
    return { value };
  }
}

function presetOf(schema: JsonObject): { value: unknown } | undefined {
  const { examples, example, default: preset } = schema;
  const given = [Array.isArray(examples) ? examples[0] : undefined, example, preset];
  const value = given.find((each) => each !== undefined);
  if (value === undefined || JSON.stringify(value).length > LONGEST_PRESET) return undefined;
  return { value };
}

function textFor(schema: JsonObject, variant: number): { value: string } | undefined {
  const { format, minLength, maxLength } = schema;
  const number = variant === 0 ? "" : String(variant + 1);
  const [least, most] = [Number(minLength ?? 0), Number(maxLength ?? Infinity)];
  if (typeof format === "string" && Object.hasOwn(FORMATS, format)) {
    const text = FORMATS[format];
    return text === undefined ? undefined : { value: text };
  }
  if (least > LONGEST_TEXT) return undefined;
  const long = WORD.repeat(Math.max(1, Math.ceil((least - number.length) / WORD.length))) + number;
  return { value: long.length > most ? long.slice(-Math.max(0, most)).slice(0, most) : long };
}

function numberFor(
  schema: JsonObject,
  isWhole: boolean,
  variant: number,
): { value: number } | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : isWhole ? 1 : 0.5;
  const above = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const below = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  const least = Math.max(finite(minimum, -Infinity), finite(above, -Infinity));
  const most = Math.min(finite(maximum, Infinity), finite(below, Infinity));
  const fits = (value: number): boolean =>
    value >= least &&
    value <= most &&
    !(typeof above === "number" && value <= above) &&
    !(typeof below === "number" && value >= below) &&
    (!isWhole || Number.isInteger(value));
  const low = Math.ceil(finite(least, 0) / step) * step;
  const high = Math.floor(finite(most, 0) / step) * step;
  const middle = (finite(least, 0) + finite(most, 0)) / 2;
  const isMultiple = (value: number): boolean =>
    typeof multipleOf !== "number" || value % multipleOf === 0;
  const first = [1, step, low, low + step, high, high - step, middle].find(
    (each) => fits(each) && (each !== 1 || isMultiple(each)),
  );
  if (first === undefined) return undefined;
  const other = first + variant * step;
  return { value: fits(other) ? other : first };
}

function finite(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function fitsType(value: unknown, schema: JsonObject): boolean {
  const types = typesOf(schema);
  return types.length === 0 || isOfType(value, types);
}

/** A schema that asks for what both ask for. Undefined where nothing fits both. */
function merge(a: JsonObject, b: JsonObject): JsonObject | undefined {
  const merged: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const present = Object.hasOwn(a, key) ? a[key] : undefined;
    merged[key] = present === undefined ? value : both(key, present, value);
    if (merged[key] === NOTHING) return undefined;
  }
  return merged;
}

const NOTHING = Symbol("nothing fits");

function both(key: string, a: unknown, b: unknown): unknown {
  if (/^(?:min|exclusiveMin)/.test(key)) return Math.max(Number(a), Number(b));
  if (/^(?:max|exclusiveMax)/.test(key)) return Math.min(Number(a), Number(b));
  switch (key) {
    case "required":
    case "allOf":
      return [...(Array.isArray(a) ? a : []), ...(Array.isArray(b) ? b : [])];
    case "anyOf":
    case "oneOf":
      // Only one of the lists can be chosen from; the check tells whether that was right.
      return a;
    case "properties":
      return isJsonObject(a) && isJsonObject(b) ? mergeProperties(a, b) : b;
    case "enum":
    case "type":
      return inBoth([a].flat(), [b].flat());
    default:
      return a;
  }
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = { ...a };
  for (const [name, part] of Object.entries(b)) {
    merged[name] = Object.hasOwn(a, name) ? { allOf: [a[name], part] } : part;
  }
  return merged;
}

function inBoth(a: readonly unknown[], b: readonly unknown[]): unknown {
  const isIn = (each: unknown): boolean =>
    b.some((other) => isDeepStrictEqual(each, other)) ||
    (each === "integer" && b.includes("number"));
  const kept = a.filter(isIn);
  if (a.includes("number") && b.includes("integer")) kept.push("integer");
  return kept.length === 0 ? NOTHING : kept;
}
