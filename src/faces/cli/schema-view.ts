// A JSON Schema as the command line understands it: which parameters there are and what goes into them.
// Only what helps a person to write a call; the server has the last word. Every part of a schema is looked
// at once at most, so that one which refers to itself or repeats itself costs no more than its size.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { followPointer } from "../../util/json-pointer.ts";

export interface Parameter {
  name: string;
  schema: JsonObject;
  required: boolean;
}

/** References in a row. */
const LONGEST_CHAIN = 16;

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

  /** One of the keys of a parameter that is an object. */
  part(name: string, schema: JsonObject): Parameter | undefined {
    return this.#collect(schema).get(name);
  }

  /** Whether keys that it does not name are welcome in so many words. */
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

  #own(): ReadonlyMap<string, Parameter> {
    this.#parameters ??= this.#collect(this.#root);
    return this.#parameters;
  }

  /** The keys of every alternative are counted in, but only what all of them need is required. */
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
    const target = followPointer(this.#root, reference);
    return isJsonObject(target) ? target : undefined;
  }
}

function parts(schema: JsonObject, key: "allOf" | "anyOf" | "oneOf"): JsonObject[] {
  const list = schema[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** Some generators wrap a reference, so that a description can stand beside it. */
function onlyPart(schema: JsonObject): JsonObject | undefined {
  const [first, second] = parts(schema, "allOf");
  const isWrapper = second === undefined && !("properties" in schema) && !("type" in schema);
  return isWrapper ? first : undefined;
}
