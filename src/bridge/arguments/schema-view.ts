// A JSON Schema as the command line needs it: which parameters there are, and their types in a word or two.
// It only helps a person to write a call; the server checks the arguments. Each part of a schema is visited at
// most once, so that a schema which refers to itself costs no more than its size.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { followPointer } from "../../util/json-pointer.ts";
import { oneLine } from "../../util/text.ts";

export interface Parameter {
  name: string;
  schema: JsonObject;
  required: boolean;
}

/** How many references in a row are followed. */
const LONGEST_CHAIN = 16;
const MOST_CHOICES = 6;
const DEEPEST_ARRAY = 3;

export class SchemaView {
  readonly #root: JsonObject;
  #parameters: ReadonlyMap<string, Parameter> | undefined;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  get parameters(): Parameter[] {
    return [...this.#own().values()];
  }

  parameter(name: string): Parameter | undefined {
    return this.#own().get(name);
  }

  /** A property of a parameter that is an object. */
  part(name: string, schema: JsonObject): Parameter | undefined {
    return this.#collect(schema).get(name);
  }

  /** Whether it says that keys which it does not name are welcome. */
  get isOpen(): boolean {
    const { additionalProperties, patternProperties } = this.resolve(this.#root);
    if (isJsonObject(patternProperties)) return true;
    if (additionalProperties !== undefined) return additionalProperties !== false;
    return this.#own().size === 0;
  }

  /** Whether it refuses keys that it does not name. */
  get isClosed(): boolean {
    const { additionalProperties, patternProperties } = this.resolve(this.#root);
    return additionalProperties === false && !isJsonObject(patternProperties);
  }

  /** Follows references within the document. */
  resolve(schema: JsonObject): JsonObject {
    let current = schema;
    for (let links = 0; links < LONGEST_CHAIN; links += 1) {
      const target = this.#target(current["$ref"]) ?? onlyPart(current);
      if (target === undefined) return current;
      current = target;
    }
    return current;
  }

  /** The schema's alternatives, each resolved; itself where it has none. */
  alternatives(schema: JsonObject): JsonObject[] {
    const found: JsonObject[] = [];
    const seen = new Set<JsonObject>();
    const visit = (given: JsonObject): void => {
      const resolved = this.resolve(given);
      if (seen.has(resolved)) return;
      seen.add(resolved);
      const branches = [...parts(resolved, "anyOf"), ...parts(resolved, "oneOf")];
      if (branches.length === 0) found.push(resolved);
      else branches.forEach(visit);
    };
    visit(schema);
    return found;
  }

  /** `number`, `string[]`, `"asc" | "desc"` */
  typeName(schema: JsonObject, depth = 0): string {
    const alternatives = this.alternatives(schema).slice(0, MOST_CHOICES);
    const names = alternatives.flatMap((each) => this.#typeNames(each, depth));
    return [...new Set(names)].join(" | ") || "any";
  }

  #typeNames(schema: JsonObject, depth: number): string[] {
    const choices = choicesOf(schema);
    if (choices !== undefined) return [listChoices(choices)];
    return typesOf(schema).map((type) => {
      if (type !== "array") return oneLine(type, 20);
      const { items } = schema;
      if (!isJsonObject(items) || depth >= DEEPEST_ARRAY) return "array";
      const item = this.typeName(items, depth + 1);
      return item.includes(" ") ? `(${item})[]` : `${item}[]`;
    });
  }

  #own(): ReadonlyMap<string, Parameter> {
    this.#parameters ??= this.#collect(this.#root);
    return this.#parameters;
  }

  /** Includes the keys of every alternative; required are those that all alternatives require. */
  #collect(schema: JsonObject): Map<string, Parameter> {
    const found = new Map<string, Parameter>();
    const required = new Set<unknown>();
    const seen = new Set<JsonObject>();
    const visit = (given: JsonObject, always: boolean): void => {
      const resolved = this.resolve(given);
      if (seen.has(resolved)) return;
      seen.add(resolved);
      const { properties } = resolved;
      for (const [name, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
        if (found.has(name)) continue;
        found.set(name, { name, schema: isJsonObject(value) ? value : {}, required: false });
      }
      if (always && Array.isArray(resolved["required"])) {
        for (const name of resolved["required"]) required.add(name);
      }
      for (const part of parts(resolved, "allOf")) visit(part, always);
      for (const part of [...parts(resolved, "anyOf"), ...parts(resolved, "oneOf")]) {
        visit(part, false);
      }
    };
    visit(schema, true);
    for (const parameter of found.values()) parameter.required = required.has(parameter.name);
    return found;
  }

  #target(reference: unknown): JsonObject | undefined {
    if (typeof reference !== "string") return undefined;
    const value = followPointer(this.#root, reference);
    return isJsonObject(value) ? value : undefined;
  }
}

/** The values a schema allows, where it lists them. */
export function choicesOf(schema: JsonObject): readonly unknown[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"];
  return Object.hasOwn(schema, "const") ? [schema["const"]] : undefined;
}

/** The types a schema names; empty where it names none. */
export function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === "string");
  if (isJsonObject(schema["properties"])) return ["object"];
  return isJsonObject(schema["items"]) ? ["array"] : [];
}

export function listChoices(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MOST_CHOICES).map((each) => oneLine(JSON.stringify(each), 40));
  if (choices.length > shown.length) shown.push(`… ${choices.length - shown.length} more`);
  return shown.join(" | ");
}

function parts(schema: JsonObject, key: "allOf" | "anyOf" | "oneOf"): JsonObject[] {
  const list = schema[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** Some generators wrap a reference in `allOf`, to put a description next to it. */
function onlyPart(schema: JsonObject): JsonObject | undefined {
  const [first, second] = parts(schema, "allOf");
  const isWrapper = second === undefined && !("properties" in schema) && !("type" in schema);
  return isWrapper ? first : undefined;
}
