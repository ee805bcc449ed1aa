// Builds the arguments object of a call: converts what was given to the types in the tool's schema, and refuses what
// surely fails. Where the schema itself makes no sense, it warns and leaves the decision to the server. All problems
// are reported together.

import type { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../../util/json-depth.ts";
import { type Parameter, SchemaView, typesOf } from "./schema-view.ts";
import { invalidArguments } from "./invalid.ts";
import type { GivenArguments, GivenValue } from "./parse.ts";
import { itemSchema, misfit, oddityIn, typed } from "./typed.ts";

/** In a message. */
const MOST_NAMES = 20;

export interface AssembledArguments {
  /** Those that fit the schema. */
  args: JsonObject;
  problem?: PlugboardError;
  /** What the server may refuse, or read differently, because its schema is not sound. */
  warnings: string[];
}

/** `hint` says how to see the tool's parameters. */
export function assembleArguments(
  { whole, pairs }: GivenArguments,
  schema: JsonObject,
  hint: string,
): AssembledArguments {
  if (isDeeperThan(REFUSED_DEPTH, [whole, pairs])) {
    const problem = `the arguments are nested more than ${REFUSED_DEPTH} levels deep; the tool was not called`;
    return { args: {}, warnings: [], problem: invalidArguments([problem], hint) };
  }
  const builder = new Builder(schema, whole);
  for (const [key, values] of grouped(pairs)) builder.add(key, values);
  builder.check();
  const { args, problems, warnings } = builder;
  if (problems.length === 0) return { args, warnings };
  return { args, warnings, problem: invalidArguments(problems, hint) };
}

class Builder {
  /** Without a prototype, so that `__proto__` is a key like any other. */
  readonly args: JsonObject;
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  readonly #view: SchemaView;
  readonly #given: readonly string[];
  /** Parameters that were given, even with a value of the wrong type: those are not missing. */
  readonly #named = new Set<string>();

  constructor(schema: JsonObject, whole: JsonObject) {
    this.#view = new SchemaView(schema);
    this.#given = Object.keys(whole);
    this.args = bare(whole);
  }

  /** `key` may be a path into an object, as in `place.city`. */
  add(key: string, values: readonly GivenValue[]): void {
    const parts = this.#view.parameter(key) === undefined ? key.split(".") : [key];
    const [name = key, ...rest] = parts;
    const parameter = this.#view.parameter(name);
    if (parameter === undefined) {
      if (this.#isWelcome(key, name)) this.#set([key], key, values, {});
      return;
    }
    this.#named.add(name);
    const types = this.#view.alternatives(parameter.schema).flatMap(typesOf);
    const isObject = types.length === 0 || types.includes("object");
    if (rest.length > 0 && !isObject && !this.#isOdd(name, parameter.schema)) {
      const type = this.#view.typeName(parameter.schema);
      this.problems.push(`${key}: '${name}' is not an object; expected ${type}`);
      return;
    }
    this.#set(parts, key, values, this.#schemaAt(parameter.schema, rest));
  }

  check(): void {
    const parameters = this.#view.parameters;
    const missing = parameters.filter(
      ({ name, required }) => required && !Object.hasOwn(this.args, name) && !this.#named.has(name),
    );
    if (missing.length > 0) this.problems.push(this.#missingText(missing));
    const absent = [...this.#view.undescribed].filter((name) => !Object.hasOwn(this.args, name));
    if (absent.length > 0) {
      this.warnings.push(`the schema requires ${listed(absent)}, but does not describe it`);
    }
    for (const name of this.#given) {
      const parameter = this.#view.parameter(name);
      if (parameter !== undefined) {
        if (!this.#named.has(name)) this.#fits(name, this.args[name], parameter.schema);
      } else if (this.#view.isClosed && !this.#view.undescribed.has(name)) this.#unknown(name);
    }
  }

  /** Whether a key that the schema does not describe is sent. A mistyped one is not: the server might ignore it. */
  #isWelcome(key: string, first: string): boolean {
    if (this.#view.isOpen || this.#view.undescribed.has(key)) return true;
    const names = this.#view.parameters.map(({ name }) => name);
    if (this.#view.isClosed || closest(first, names) !== undefined) {
      this.#unknown(first);
      return false;
    }
    this.warnings.push(
      `the schema does not describe '${shortName(key)}'; the tool takes ${listed(names)}`,
    );
    return true;
  }

  #isOdd(key: string, schema: JsonObject): boolean {
    const odd = oddityIn(schema, this.#view);
    if (odd !== undefined) this.#warn(key, odd);
    return odd !== undefined;
  }

  #warn(key: string, odd: string): void {
    const text = `${key}: the schema is not sound here: ${odd}`;
    if (!this.warnings.includes(text)) this.warnings.push(text);
  }

  #schemaAt(schema: JsonObject, path: readonly string[]): JsonObject {
    let current = schema;
    for (const key of path) current = this.#view.part(key, current)?.schema ?? {};
    return current;
  }

  #set(
    path: readonly string[],
    key: string,
    values: readonly GivenValue[],
    schema: JsonObject,
  ): void {
    const value = this.#value(key, values, schema);
    if (value === undefined) return;
    let target = this.args;
    for (const part of path.slice(0, -1)) {
      const next = Object.hasOwn(target, part) ? target[part] : bare({});
      if (!isJsonObject(next)) {
        this.problems.push(`${key}: '${part}' has a value that is not an object`);
        return;
      }
      // Copied, so that the object given as JSON is not changed.
      const copy = bare(next);
      target[part] = copy;
      target = copy;
    }
    target[path.at(-1) ?? key] = value.value;
  }

  #value(
    key: string,
    values: readonly GivenValue[],
    schema: JsonObject,
  ): { value: unknown } | undefined {
    const [first, second] = values;
    if (first !== undefined && second === undefined) return this.#one(key, first, schema);
    const list = this.#view.alternatives(schema).find((each) => typesOf(each).includes("array"));
    const isSingle = list === undefined && typesOf(this.#view.resolve(schema)).length > 0;
    if (isSingle && !this.#isOdd(key, schema)) {
      this.problems.push(`${key}: given ${values.length} times, but it is not a list`);
      return undefined;
    }
    const items = values.map((value) => this.#one(key, value, itemSchema(list ?? {})));
    if (items.includes(undefined)) return undefined;
    return { value: items.map((item) => item?.value) };
  }

  #one(key: string, given: GivenValue, schema: JsonObject): { value: unknown } | undefined {
    if (given.kind === "json") return this.#fits(key, given.value, schema) ? given : undefined;
    const types = this.#view.alternatives(schema).flatMap(typesOf);
    if (given.kind === "content" && (types.length === 0 || types.includes("string"))) {
      return { value: given.text };
    }
    // A file often ends with a newline, which would not parse as part of a number.
    const text = given.kind === "content" ? given.text.trim() : given.text;
    const result = typed(text, schema, this.#view);
    if (result.ok) {
      if (result.odd !== undefined) this.#warn(key, result.odd);
      return { value: result.value };
    }
    this.problems.push(`${key}: ${result.problem}`);
    return undefined;
  }

  #unknown(name: string): void {
    const names = this.#view.parameters.map((each) => each.name);
    const meant = closest(name, names);
    const known = `the tool takes ${names.length === 0 ? "none" : listed(names)}`;
    const help = meant === undefined ? known : `did you mean '${meant}'?`;
    this.problems.push(`there is no parameter '${shortName(name)}'; ${help}`);
  }

  /** Whether a value given as JSON can be sent: the schema allows its type, or is not sound. */
  #fits(key: string, value: unknown, schema: JsonObject): boolean {
    const problem = misfit(value, schema, this.#view);
    if (problem === undefined || this.#isOdd(key, schema)) return true;
    this.problems.push(`${key}: ${problem}`);
    return false;
  }

  #missingText(missing: readonly Parameter[]): string {
    const lines = missing.map(({ name, schema }) => {
      const { description } = schema;
      const about = typeof description === "string" ? `  ${oneLine(description, 80)}` : "";
      return `    ${name}  ${this.#view.typeName(schema)}${about}`;
    });
    return [`${plural(missing.length, "argument")} missing:`, ...lines].join("\n");
  }
}

function shortName(name: string): string {
  return oneLine(name, 60);
}

/** `a, b and 3 more` */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(shortName);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

function grouped(pairs: GivenArguments["pairs"]): Map<string, GivenValue[]> {
  const groups = new Map<string, GivenValue[]>();
  for (const { key, value } of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

function bare(object: JsonObject): JsonObject {
  const copy: JsonObject = Object.create(null);
  for (const [key, value] of Object.entries(object)) copy[key] = value;
  return copy;
}
