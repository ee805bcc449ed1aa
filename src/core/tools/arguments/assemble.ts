// Builds the arguments object of a call: converts what was given to the types in the tool's schema, and refuses what
// surely fails. Where the schema itself makes no sense, it warns and leaves the decision to the server. All problems
// are reported together.

import type { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../../util/json-depth.ts";
import { checkArguments, listed, oddText, shortName, unknownText } from "./check.ts";
import { invalidArguments } from "./invalid.ts";
import type { GivenArguments, GivenValue } from "./parse.ts";
import { type ObjectFields, type Parameter, SchemaView, typesOf } from "./schema-view.ts";
import { settleWords } from "./settle.ts";
import { itemSchema, oddityIn, typed } from "./typed.ts";

export interface AssembledArguments {
  /** Those that fit the schema. */
  args: JsonObject;
  problem?: PlugboardError;
  /** What the server may refuse, or read differently, because its schema is not sound. */
  warnings: string[];
}

/** `hint` says how to see the tool's parameters. */
export function assembleArguments(
  given: GivenArguments,
  schema: JsonObject,
  hint: string,
): AssembledArguments {
  const { whole } = given;
  if (isDeeperThan(REFUSED_DEPTH, [whole, given.pairs])) {
    const problem = `the arguments are nested more than ${REFUSED_DEPTH} levels deep; the tool was not called`;
    return { args: {}, warnings: [], problem: invalidArguments([problem], hint) };
  }
  const builder = new Builder(schema, whole);
  const { pairs, problems: unsettled, refused } = settleWords(given, builder.view);
  builder.problems.push(...unsettled);
  for (const each of refused) builder.refused.add(each);
  for (const [key, values] of grouped(pairs)) builder.add(key, values);
  builder.check();
  const { args, problems, warnings } = builder;
  if (problems.length === 0) return { args, warnings };
  return { args, warnings, problem: invalidArguments(problems, hint) };
}

/** How wide a line of a message with two columns is at most. */
const LINE_WIDTH = 76;

class Builder {
  /** Without a prototype, so that `__proto__` is a key like any other. */
  readonly args: JsonObject;
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  readonly #root: JsonObject;
  readonly view: SchemaView;
  /** What was given without a value, or with one that does not fit: it is not missing. */
  readonly refused = new Set<string>();

  constructor(schema: JsonObject, whole: JsonObject) {
    this.#root = schema;
    this.view = new SchemaView(schema);
    this.args = bare(whole);
  }

  /** `key` may be a path into an object, as in `place.city`. */
  add(key: string, values: readonly GivenValue[]): void {
    const { fields } = this.view.object(this.#root);
    const parts = fields.has(key) || !fields.has(key.split(".")[0] ?? "") ? [key] : key.split(".");
    const schema = this.#schemaAt(parts, key);
    if (schema !== undefined) this.#set(parts, key, values, schema);
    else this.refused.add(key);
  }

  check(): void {
    const missing: { path: string; parameter: Parameter }[] = [];
    for (const finding of checkArguments(this.args, this.#root, this.view)) {
      if (finding.kind === "problem") this.problems.push(finding.text);
      else if (finding.kind === "warning") this.#warn(finding.text);
      else if (!this.#isRefused(finding.path)) missing.push(finding);
    }
    if (missing.length > 0) this.problems.push(this.#missingText(missing));
  }

  /** The schema of a value at this path. Undefined if it must not be given: the problem is noted then. */
  #schemaAt(path: readonly string[], key: string): JsonObject | undefined {
    let current = this.#root;
    for (const [at, name] of path.entries()) {
      const inside = path.slice(0, at).join(".");
      const object = this.view.object(current);
      const types = this.view.alternatives(current).flatMap(typesOf);
      const isObject = at === 0 || types.length === 0 || types.includes("object");
      if (!isObject && !this.#isOdd(inside, current)) {
        const type = this.view.typeName(current);
        this.problems.push(`${key}: '${inside}' is not an object; expected ${type}`);
        return undefined;
      }
      const field = object.fields.get(name);
      if (field === undefined && !this.#isWelcome(name, object, inside)) return undefined;
      current = field?.schema ?? object.others;
    }
    return current;
  }

  #isRefused(path: string): boolean {
    return [...this.refused].some((each) => each === path || each.startsWith(`${path}.`));
  }

  /** Whether a key that the schema does not describe is sent. A mistyped one is not: the server might ignore it. */
  #isWelcome(name: string, object: ObjectFields, inside: string): boolean {
    if (object.isOpen || object.undescribed.has(name)) return true;
    const names = [...object.fields.keys()];
    // The first part of a path is what is mistyped, or none of it.
    const [first = name] = name.split(".");
    if (object.isClosed || closest(first, names) !== undefined) {
      this.problems.push(unknownText(first, object, inside));
      return false;
    }
    const [path, takes] = inside === "" ? [name, "the tool"] : [`${inside}.${name}`, `'${inside}'`];
    this.#warn(
      `the schema does not describe '${shortName(path)}'; ${takes} takes ${listed(names)}`,
    );
    return true;
  }

  #isOdd(key: string, schema: JsonObject): boolean {
    const odd = oddityIn(schema, this.view);
    if (odd !== undefined) this.#warn(oddText(key, odd));
    return odd !== undefined;
  }

  #warn(text: string): void {
    if (!this.warnings.includes(text)) this.warnings.push(text);
  }

  #set(
    path: readonly string[],
    key: string,
    values: readonly GivenValue[],
    schema: JsonObject,
  ): void {
    const value = this.#value(key, values, schema);
    if (value === undefined) {
      this.refused.add(key);
      return;
    }
    let target = this.args;
    for (const part of path.slice(0, -1)) {
      const next = Object.hasOwn(target, part) ? target[part] : bare({});
      if (!isJsonObject(next)) {
        this.problems.push(`${key}: '${part}' has a value that is not an object`);
        // Otherwise the check would report it a second time.
        delete target[part];
        this.refused.add(key);
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
    const list = this.view.alternatives(schema).find((each) => typesOf(each).includes("array"));
    const isSingle = list === undefined && typesOf(this.view.resolve(schema)).length > 0;
    if (isSingle && !this.#isOdd(key, schema)) {
      this.problems.push(`${key}: given ${values.length} times, but it is not a list`);
      return undefined;
    }
    const items = values.map((value) => this.#one(key, value, itemSchema(list ?? {})));
    if (items.includes(undefined)) return undefined;
    return { value: items.map((item) => item?.value) };
  }

  #one(key: string, given: GivenValue, schema: JsonObject): { value: unknown } | undefined {
    if (given.kind === "json") return given;
    const types = this.view.alternatives(schema).flatMap(typesOf);
    if (given.kind === "content" && (types.length === 0 || types.includes("string"))) {
      return { value: given.text };
    }
    // A file often ends with a newline, which would not parse as part of a number.
    const text = given.kind === "content" ? given.text.trim() : given.text;
    const result = typed(text, schema, this.view);
    if (result.ok) {
      if (result.odd !== undefined) this.#warn(oddText(key, result.odd));
      return { value: result.value };
    }
    this.problems.push(`${key}: ${result.problem}`);
    return undefined;
  }

  #missingText(missing: readonly { path: string; parameter: Parameter }[]): string {
    const lines = missing.map(({ path, parameter: { schema } }) => {
      const { description } = schema;
      const start = `    ${shortName(path)}  ${this.view.typeName(schema)}`;
      if (typeof description !== "string") return start;
      // A terminal does not break an indented line between words.
      return `${start}  ${oneLine(description, Math.max(20, LINE_WIDTH - start.length))}`;
    });
    return [`${plural(missing.length, "argument")} missing:`, ...lines].join("\n");
  }
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
