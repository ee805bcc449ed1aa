// A JSON Schema as a person who writes a call needs it: which parameters there are, and their types in a word or
// two. The server checks the arguments. Each part of a schema is visited at most once, so that a schema which
// refers to itself costs no more than its size.

import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import { followPointer } from "../../../util/json-pointer.ts";
import { oneLine } from "../../../util/text.ts";

export interface Parameter {
  name: string;
  schema: JsonObject;
  /** It must be given: the schema requires it and has no default for it. */
  required: boolean;
}

/** The fields of an object: of all arguments, or of one that is an object. */
export interface ObjectFields {
  /** By name; of every form that the object may take. Required are those that all of them require. */
  fields: ReadonlyMap<string, Parameter>;
  /** Names that the schema requires and does not describe. */
  undescribed: ReadonlySet<string>;
  /** It says that keys which it does not name are welcome. */
  isOpen: boolean;
  /** It refuses keys that it does not name. */
  isClosed: boolean;
  /** What the value of a key must be that it does not name; empty where it does not say. */
  others: JsonObject;
}

/** How many references in a row are followed. */
const LONGEST_CHAIN = 16;
/** In a message. */
const MOST_CHOICES = 6;
const SHORT_CHOICE = 40;
const LONGEST_CHOICE = 200;
const DEEPEST_ARRAY = 3;

export class SchemaView {
  readonly #root: JsonObject;
  /** By the resolved schema: many parameters may refer to one that is large. */
  readonly #alternatives = new Map<JsonObject, JsonObject[]>();
  readonly #objects = new Map<JsonObject, ObjectFields>();
  readonly #common = new Map<JsonObject, ObjectFields>();
  #visited = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** How many parts of the schema were looked at so far, for whoever has to stop some time. */
  get visited(): number {
    return this.#visited;
  }

  get parameters(): Parameter[] {
    return [...this.object(this.#root).fields.values()];
  }

  /** What an object of this schema may consist of. */
  object(schema: JsonObject): ObjectFields {
    const resolved = this.resolve(schema);
    const known = this.#objects.get(resolved) ?? this.#collect(resolved);
    this.#objects.set(resolved, known);
    return known;
  }

  /** The properties that an object has whichever of its alternatives it takes. */
  commonParts(schema: JsonObject): Parameter[] {
    const resolved = this.resolve(schema);
    const known = this.#common.get(resolved) ?? this.#collect(resolved, false);
    this.#common.set(resolved, known);
    return [...known.fields.values()];
  }

  /** What a schema, or one that it refers to, says under `key`: its description, its default. */
  note(schema: JsonObject, key: string): unknown {
    let current: JsonObject | undefined = schema;
    for (let links = 0; current !== undefined && links < LONGEST_CHAIN; links += 1) {
      if (current[key] !== undefined) return current[key];
      current = this.target(current["$ref"]) ?? onlyPart(current);
    }
    return undefined;
  }

  /** The schema in this document that a reference names. */
  target(reference: unknown): JsonObject | undefined {
    if (typeof reference !== "string") return undefined;
    const value = followPointer(this.#root, reference);
    return isJsonObject(value) ? value : undefined;
  }

  /** Follows references within the document. */
  resolve(schema: JsonObject): JsonObject {
    let current = schema;
    for (let links = 0; links < LONGEST_CHAIN; links += 1) {
      const target = this.target(current["$ref"]) ?? onlyPart(current);
      if (target === undefined) return current;
      current = target;
    }
    return current;
  }

  /** The schema's alternatives, each resolved; itself where it has none. */
  alternatives(schema: JsonObject): JsonObject[] {
    const resolved = this.resolve(schema);
    const known = this.#alternatives.get(resolved) ?? this.#findAlternatives(resolved);
    this.#alternatives.set(resolved, known);
    return known;
  }

  #findAlternatives(schema: JsonObject): JsonObject[] {
    const found: JsonObject[] = [];
    this.#walk(schema, (part) => {
      const forms = formsIn(part);
      if (forms.length === 0) found.push(part);
      return { forms };
    });
    return found;
  }

  /**
   * Visits a schema, then the parts and forms that `visit` returns, in order; `always` is false within a form. Does not
   * recurse, since a stranger's schema may be deep.
   */
  #walk(
    schema: JsonObject,
    visit: (
      part: JsonObject,
      always: boolean,
    ) => { all?: readonly JsonObject[]; forms: readonly JsonObject[] },
  ): void {
    const seen = new Set<JsonObject>();
    const left = [{ schema, always: true }];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { always } = next;
      const part = this.resolve(next.schema);
      if (seen.has(part)) continue;
      seen.add(part);
      this.#visited += 1;
      const { all = [], forms } = visit(part, always);
      for (const each of forms.toReversed()) left.push({ schema: each, always: false });
      for (const each of all.toReversed()) left.push({ schema: each, always });
    }
  }

  /** `number`, `string[]`, `"asc" | "desc"`; at most so many choices of each kind. */
  typeName(schema: JsonObject, most = MOST_CHOICES, depth = 0): string {
    const alternatives = this.alternatives(schema);
    const names = alternatives.slice(0, most).flatMap((each) => this.#typeNames(each, most, depth));
    const left = alternatives.length - most;
    const all = left > 0 ? [...new Set(names), `… ${left} more`] : [...new Set(names)];
    return all.join(" | ") || "any";
  }

  #typeNames(schema: JsonObject, most: number, depth: number): string[] {
    const choices = choicesOf(schema);
    if (choices !== undefined) return [listChoices(choices, most)];
    return typesOf(schema).map((type) => {
      if (type !== "array") return oneLine(type, 20);
      const { items } = schema;
      if (!isJsonObject(items) || depth >= DEEPEST_ARRAY) return "array";
      const item = this.typeName(items, most, depth + 1);
      return item.includes(" ") ? `(${item})[]` : `${item}[]`;
    });
  }

  #collect(schema: JsonObject, withAlternatives = true): ObjectFields {
    const found = new Map<string, JsonObject[]>();
    const required = new Set<string>();
    this.#walk(schema, (part, always) => {
      const { properties } = part;
      for (const [name, value] of Object.entries(objectIn(properties))) {
        this.#visited += 1;
        const earlier = found.get(name);
        const own = objectIn(value);
        if (earlier === undefined) found.set(name, [own]);
        else if (!always) earlier.push(own);
      }
      if (always && Array.isArray(part["required"])) {
        for (const name of part["required"]) if (typeof name === "string") required.add(name);
      }
      return { all: parts(part, "allOf"), forms: withAlternatives ? formsIn(part) : [] };
    });
    const fields = new Map<string, Parameter>();
    for (const [name, schemas] of found) {
      const own = eitherOf(schemas);
      // Generators of schemas require what has a default too, since it is always there once the server has read it.
      const hasDefault = this.note(own, "default") !== undefined;
      fields.set(name, { name, schema: own, required: required.has(name) && !hasDefault });
    }
    const undescribed = new Set([...required].filter((name) => !found.has(name)));
    const { additionalProperties: others, patternProperties } = this.resolve(schema);
    const hasPatterns = isJsonObject(patternProperties);
    return {
      fields,
      undescribed,
      isOpen: hasPatterns || (others === undefined ? found.size === 0 : others !== false),
      isClosed: others === false && !hasPatterns,
      others: isJsonObject(others) && !hasPatterns ? others : {},
    };
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

export function listChoices(choices: readonly unknown[], most = MOST_CHOICES): string {
  const longest = most > MOST_CHOICES ? LONGEST_CHOICE : SHORT_CHOICE;
  const shown = choices.slice(0, most).map((each) => oneLine(JSON.stringify(each), longest));
  if (choices.length > shown.length) shown.push(`… ${choices.length - shown.length} more`);
  return shown.join(" | ");
}

/** The schemas in a list of them. */
export function parts(schema: JsonObject, key: "allOf" | "anyOf" | "oneOf"): JsonObject[] {
  const list = schema[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function formsIn(schema: JsonObject): JsonObject[] {
  return [...parts(schema, "anyOf"), ...parts(schema, "oneOf")];
}

/** In another form of the object, a field may be another thing under the same name. */
function eitherOf(schemas: readonly JsonObject[]): JsonObject {
  const [first = {}, second] = schemas;
  if (second === undefined) return first;
  const { description, default: preset } = first;
  return {
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
    anyOf: schemas,
  };
}

/** Some generators wrap a reference in `allOf`, to put a description next to it. */
function onlyPart(schema: JsonObject): JsonObject | undefined {
  const [first, second] = parts(schema, "allOf");
  const isWrapper = second === undefined && !("properties" in schema) && !("type" in schema);
  return isWrapper ? first : undefined;
}
