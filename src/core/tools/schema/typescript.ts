// A JSON Schema as a TypeScript type, for the declarations that `plugboard types` writes. What is too deep or too large
// becomes `unknown`, and no text of a server's gets out of the comment or the literal that it is put into.

import { isJsonObject, isOfType, type JsonObject, objectIn } from "../../types/json.ts";
import { plainText, truncate } from "../../../util/text.ts";
import { escapedJson } from "../../../util/visible.ts";
import { impliedTypes } from "./constraints.ts";
import {
  below,
  CHARACTERS_PER_STEP,
  ConversionBudget,
  ConversionNotes,
  DEEPEST_SCHEMA,
  type SchemaPlace,
  type SchemaReading,
} from "./conversion.ts";
import { type FlatSchema, flatten, resolveReference } from "./flat-schema.ts";

export interface TypeScriptOptions {
  /** The names of the types that the schema's definitions get begin with it. */
  name: string;
  /** The type names in use, each with the number of schemas that asked for it. New names are added here. */
  taken: Map<string, number>;
  /** The type is for arguments, not for results: a property with a default can be left out. */
  isInput: boolean;
  /** How many levels the type is indented. Default 0. */
  indent?: number;
}

export interface TypeScriptType {
  text: string;
  /** Declarations of the types that it refers to, for the top level of a module. */
  declarations: string[];
}

export function toTypeScript(schema: unknown, options: TypeScriptOptions): TypeScriptType {
  return new TypeWriter(objectIn(schema), options).write(schema);
}

/** `"read-me"`, or `readMe` where no quotes are needed. */
function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : escapedJson(name);
}

const WIDTH = 100;
const LONGEST_COMMENT = 2000;

/**
 * The lines of a comment; none for no text. Whatever the text is, the comment ends where it should, and a tag in it is no
 * tag: those mean something to editors, and a server does not decide that.
 */
export function docComment(text: string, tags: readonly string[], indent: number): string[] {
  const width = WIDTH - 2 * indent;
  const plain = truncate(plainText(text.slice(0, 2 * LONGEST_COMMENT)), LONGEST_COMMENT).trim();
  const told = plain === "" ? [] : plain.split("\n").flatMap((line) => wrapped(line, width));
  const lines = [...told.map((line) => line.replace(/^@/, "\\@")), ...tags].map((line) =>
    line.replaceAll("*/", "*\\/"),
  );
  const margin = "  ".repeat(indent);
  if (lines.length < 2) return lines.map((line) => `${margin}/** ${line} */`);
  return [`${margin}/**`, ...lines.map((line) => `${margin} * ${line}`.trimEnd()), `${margin} */`];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.trim().split(/\s+/)) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line);
      line = word;
    } else line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}

/** Says nothing about which values are valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
]);

const UNKNOWN = "unknown";
const NEVER = "never";

class TypeWriter {
  readonly #reading: SchemaReading;
  readonly #options: TypeScriptOptions;
  /** By the reference that leads to it. */
  readonly #names = new Map<string, string>();
  readonly #waiting: { reference: string; name: string }[] = [];

  constructor(root: JsonObject, options: TypeScriptOptions) {
    this.#reading = { root, budget: new ConversionBudget(), notes: new ConversionNotes() };
    this.#options = options;
  }

  write(schema: unknown): TypeScriptType {
    const { indent = 0 } = this.#options;
    const text = this.#convert(schema, placeOf([]), indent, false);
    const declarations: string[] = [];
    // The list grows while it is worked off.
    for (const { reference, name } of this.#waiting) {
      const target = resolveReference(this.#reading.root, reference);
      const type = this.#convert(target, placeOf([reference]), 0, false);
      declarations.push([...this.#comment(target, 0), `type ${name} = ${type};`].join("\n"));
    }
    return { text, declarations };
  }

  /**
   * `isInside` says whether there is a property or an item around it. A named type may refer to itself only there, so
   * everywhere else the target of a reference is written out.
   */
  #convert(schema: unknown, place: SchemaPlace, indent: number, isInside: boolean): string {
    const { budget } = this.#reading;
    if (place.depth > DEEPEST_SCHEMA || !budget.spend()) return UNKNOWN;
    const reference = isInside ? onlyReference(schema) : undefined;
    const named = reference === undefined ? undefined : this.#named(reference);
    if (named !== undefined) return orNull(named, schema);
    const flat = flatten(schema, place, this.#reading);
    if (budget.exceeded) return UNKNOWN;
    if (flat.never) return orNull(NEVER, schema);
    if (flat.recursive !== undefined) {
      return (isInside ? this.#named(flat.recursive) : undefined) ?? UNKNOWN;
    }
    const branches = flat.unions.map((list) =>
      union(
        list.branches.map((branch, index) =>
          this.#convert(branch, below(flat.place, list.keyword, index), indent, isInside),
        ),
      ),
    );
    const own = this.#own(flat, indent, branches.length > 0);
    return orNull(intersection([own, ...branches]), schema);
  }

  /** Without the alternatives. */
  #own(flat: FlatSchema, indent: number, hasBranches: boolean): string {
    if (flat.values !== undefined) {
      const { types } = flat;
      const fitting = flat.values.filter((each) => types === undefined || isOfType(each, types));
      return union(fitting.map((value) => literal(value)));
    }
    const types = flat.types ?? impliedTypes(flat);
    // The alternatives say which object it is.
    const isBare = flat.properties.size === 0 && flat.required.size === 0;
    if (hasBranches && isBare && types.every((type) => type === "object")) return UNKNOWN;
    if (types.length === 0) return UNKNOWN;
    return union(types.map((type) => this.#ofType(type, flat, indent)));
  }

  #ofType(type: string, flat: FlatSchema, indent: number): string {
    switch (type) {
      case "string":
      case "boolean":
      case "null":
        return type;
      case "number":
      case "integer":
        return "number";
      case "array":
        return this.#array(flat, indent);
      default:
        return this.#object(flat, indent);
    }
  }

  #array({ prefix = [], keywords, place }: FlatSchema, indent: number): string {
    const items = keywords.get("items");
    const item = (schema: unknown, index: number | string): string =>
      this.#convert(schema, below(place, "items", index), indent, true);
    if (prefix.length === 0) {
      return items === undefined || items === true ? "unknown[]" : listOf(item(items, "each"));
    }
    const least = keywords.get("minItems");
    const needed = typeof least === "number" ? least : prefix.length;
    const parts = prefix.map((schema, index) => {
      const text = item(schema, index);
      return index < needed ? text : `${inParentheses(text)}?`;
    });
    // Whoever describes the first items means that there are no others, unless they describe those too.
    if (isJsonObject(items)) parts.push(`...${listOf(item(items, "rest"))}`);
    return `[${parts.join(", ")}]`;
  }

  #object(flat: FlatSchema, indent: number): string {
    const { properties, required, keywords, place } = flat;
    const margin = "  ".repeat(indent + 1);
    const lines: string[] = [];
    for (const [name, schema] of properties) {
      const isOptional = !required.has(name) || (this.#options.isInput && hasDefault(schema));
      const type = this.#convert(schema, below(place, "properties", name), indent + 1, true);
      lines.push(
        ...this.#comment(schema, indent + 1),
        `${margin}${propertyName(name)}${isOptional ? "?" : ""}: ${type};`,
      );
    }
    for (const name of required) {
      if (!properties.has(name)) lines.push(`${margin}${propertyName(name)}: unknown;`);
    }
    const others = this.#others(keywords, place, indent + 1, lines.length > 0);
    if (others !== undefined) lines.push(`${margin}[key: string]: ${others};`);
    return `{\n${lines.join("\n")}\n${"  ".repeat(indent)}}`;
  }

  /** The type of properties under other names. Undefined if there are none, or nobody says that there are. */
  #others(
    keywords: FlatSchema["keywords"],
    place: SchemaPlace,
    indent: number,
    hasNamed: boolean,
  ): string | undefined {
    const additional = keywords.get("additionalProperties");
    const byPattern = keywords.get("patternProperties");
    const patterns = isJsonObject(byPattern) ? Object.values(byPattern) : [];
    const isClosed = additional === false;
    // TypeScript requires that a named property fits the type of all others. JSON Schema does not.
    if (hasNamed) {
      const isOpen = additional !== undefined && !isClosed;
      return isOpen || patterns.length > 0 ? UNKNOWN : undefined;
    }
    const given = isClosed ? patterns : [...patterns, additional ?? true];
    return union(
      given.map((schema, index) =>
        this.#convert(schema, below(place, "additionalProperties", index), indent, true),
      ),
    );
  }

  /** The name of the type for the target of a reference. Undefined if it leads nowhere. */
  #named(reference: string): string | undefined {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    if (!isJsonObject(resolveReference(this.#reading.root, reference))) return undefined;
    const { name, taken } = this.#options;
    const made = freeName(`${name}${pascalCase(reference.split("/").at(-1) ?? "")}`, taken);
    this.#names.set(reference, made);
    this.#waiting.push({ reference, name: made });
    return made;
  }

  #comment(schema: unknown, indent: number): string[] {
    if (!isJsonObject(schema)) return [];
    const { description, title, default: preset, deprecated } = schema;
    const about = [description, title].find((each) => typeof each === "string" && each !== "");
    const text = typeof about === "string" ? about : "";
    const tags = [
      ...(preset === undefined ? [] : [`@default ${truncate(escapedJson(preset), WIDTH)}`]),
      ...(deprecated === true ? ["@deprecated"] : []),
    ];
    return this.#reading.budget.spend(Math.ceil(text.length / CHARACTERS_PER_STEP))
      ? docComment(text, tags, indent)
      : [];
  }
}

/** Starts with the references that were followed to get there. */
function placeOf(references: string[]): SchemaPlace {
  return { path: "", level: 0, depth: 0, trail: { refs: new Set(references) } };
}

/** The reference of a schema that is nothing else, also if it is wrapped in `allOf` to put a description next to it. */
function onlyReference(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const keys = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key) && key !== "nullable");
  if (keys.length !== 1) return undefined;
  const { $ref, allOf } = schema;
  if (typeof $ref === "string") return $ref;
  const [part] = Array.isArray(allOf) && allOf.length === 1 ? (allOf as unknown[]) : [];
  return isJsonObject(part) && Object.keys(part).length === 1 && typeof part["$ref"] === "string"
    ? part["$ref"]
    : undefined;
}

function hasDefault(schema: unknown): boolean {
  return isJsonObject(schema) && schema["default"] !== undefined;
}

/** OpenAPI's way to allow null. */
function orNull(text: string, schema: unknown): string {
  return isJsonObject(schema) && schema["nullable"] === true ? union([text, "null"]) : text;
}

const DEEPEST_VALUE = 8;

function literal(value: unknown, depth = 0): string {
  if (typeof value === "string") return escapedJson(value);
  // JSON has numbers that JavaScript reads as infinite.
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "number";
  if (value === null || typeof value === "boolean") return String(value);
  if (depth >= DEEPEST_VALUE) return UNKNOWN;
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, depth + 1)).join(", ")}]`;
  if (!isJsonObject(value)) return UNKNOWN;
  const parts = Object.entries(value).map(
    ([key, each]) => `${propertyName(key)}: ${literal(each, depth + 1)}`,
  );
  return parts.length === 0 ? "{ [key: string]: never }" : `{ ${parts.join("; ")} }`;
}

function union(parts: readonly string[]): string {
  const distinct = new Set(parts.filter((part) => part !== NEVER));
  if (distinct.has(UNKNOWN)) return UNKNOWN;
  return distinct.size === 0 ? NEVER : [...distinct].join(" | ");
}

function intersection(parts: readonly string[]): string {
  const distinct = [...new Set(parts.filter((part) => part !== UNKNOWN))];
  if (distinct.includes(NEVER)) return NEVER;
  const [first = UNKNOWN, ...others] = distinct;
  return others.length === 0 ? first : distinct.map(inParentheses).join(" & ");
}

function listOf(item: string): string {
  return `${inParentheses(item)}[]`;
}

/** A pair too many changes nothing, so the text inside an object or a literal may be the reason for one. */
function inParentheses(text: string): string {
  return / [|&] /.test(text) ? `(${text})` : text;
}

export function pascalCase(text: string): string {
  const words = text.slice(0, 100).match(/[A-Za-z\d]+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** The name, with a number behind it if it is in use. */
export function freeName(wanted: string, taken: Map<string, number>): string {
  const start = /^[A-Za-z_]/.test(wanted) ? wanted : `_${wanted}`;
  let name = start;
  while (taken.has(name)) {
    const count = (taken.get(start) ?? 1) + 1;
    taken.set(start, count);
    name = `${start}${count}`;
  }
  taken.set(name, 1);
  return name;
}
