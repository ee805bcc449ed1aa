// The parameters of a tool as a list to read: every field with its type, limits and default, those inside objects and
// lists below the field that holds them. A schema may be large, deep or refer to itself, so the list has a bound.

import { isJsonObject, type JsonObject, textsIn } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";
import { type Limit, schemaLimits } from "./limits.ts";
import { type Parameter, parts, SchemaView, typesOf } from "./schema-view.ts";

interface Field {
  kind: "field";
  /** How many fields it is inside. */
  depth: number;
  /**
   * As it is typed: `place.city` as in `place.city=Oslo`, `labels.…` under any key. Within an item of a list, its key in the
   * item's JSON.
   */
  path: string;
  type: string;
  /** `required`, `default 5`, `1 to 100`. */
  facts: string[];
  description?: string;
}

/** Something about the fields that follow it, or that are left out. */
interface FieldNote {
  kind: "note";
  depth: number;
  text: string;
}

export type FieldLine = Field | FieldNote;

const MOST_LINES = 400;
const DEEPEST = 8;
const MOST_CHOICES = 60;
const MOST_FORMS = 30;
const LONGEST_VALUE = 200;
/** In the example of an item. */
const MOST_KEYS = 5;

export function listFields(schema: JsonObject): FieldLine[] {
  return new Lister(schema).list();
}

/** An object's fields: those it always has, and those that only some of its forms have. */
interface Shape {
  common: Parameter[];
  forms: JsonObject[];
  /** Whether it has more forms. */
  isCut: boolean;
  /** Names, of which at least one group must be given. */
  needs: { isOne: boolean; groups: string[][] } | undefined;
  /** The schema of a value under any other key. */
  others: JsonObject | undefined;
}

class Lister {
  readonly #root: JsonObject;
  readonly #view: SchemaView;
  readonly #lines: FieldLine[] = [];

  constructor(root: JsonObject) {
    this.#root = root;
    this.#view = new SchemaView(root);
  }

  list(): FieldLine[] {
    this.#object(this.#root, "", 0, []);
    if (this.#isFull) this.#lines.push({ kind: "note", depth: 0, text: "… and more" });
    return this.#lines;
  }

  get #isFull(): boolean {
    return this.#lines.length >= MOST_LINES;
  }

  #note(depth: number, text: string): void {
    if (!this.#isFull) this.#lines.push({ kind: "note", depth, text });
  }

  /** `outer` are the objects that it is inside, to end where one is inside itself. */
  #object(schema: JsonObject, path: string, depth: number, outer: readonly JsonObject[]): void {
    const resolved = this.#view.resolve(schema);
    const shape = this.#shapeOf(resolved);
    if (isEmpty(shape)) return;
    if (outer.includes(resolved)) return this.#note(depth, "the same fields again, and so on");
    if (depth > DEEPEST) return this.#note(depth, "… more fields inside");
    const inside = [...outer, resolved];
    const { common, forms, isCut, needs, others } = shape;
    for (const each of common) this.#field(each, path, depth, inside);
    if (others !== undefined) {
      const named = { name: "…", schema: others, required: false };
      this.#field(named, path, depth, inside);
    }
    if (needs !== undefined) this.#note(depth, needsText(needs));
    forms.forEach((form, at) => {
      if (forms.length > 1) this.#note(depth, at === 0 ? "either:" : "or:");
      this.#object(form, path, depth, inside);
    });
    if (isCut) this.#note(depth, "… or another form");
  }

  #field(
    { name, schema, required }: Parameter,
    path: string,
    depth: number,
    outer: readonly JsonObject[],
  ): void {
    if (this.#isFull) return;
    const own = path === "" ? name : `${path}.${name}`;
    const description = this.#view.note(schema, "description");
    this.#lines.push({
      kind: "field",
      depth,
      path: own,
      type: this.#view.typeName(schema, MOST_CHOICES),
      facts: [...(required ? ["required"] : []), ...this.#facts(schema)],
      ...(typeof description === "string" && { description }),
    });
    this.#inside(schema, own, depth + 1, outer);
  }

  /** The fields of an object, of the items of a list, of the items of its items. */
  #inside(schema: JsonObject, path: string, depth: number, outer: readonly JsonObject[]): void {
    this.#object(schema, path, depth, outer);
    let current = schema;
    for (let level = 1; level <= DEEPEST; level += 1) {
      const list = this.#view.alternatives(current).find((each) => isJsonObject(each["items"]));
      if (list === undefined || !isJsonObject(list["items"])) return;
      current = list["items"];
      const isAgain = outer.includes(this.#view.resolve(current));
      const example = isAgain ? undefined : this.#itemExample(current);
      if (example !== undefined) this.#note(depth, `each as JSON, such as ${example}`);
      this.#object(current, "", depth, outer);
    }
  }

  /** `{"login":…}`: the required keys of an object, or its first one. Undefined for what is no object with keys. */
  #itemExample(schema: JsonObject): string | undefined {
    const keys = this.#view.commonParts(this.#view.resolve(schema));
    const required = keys.filter((each) => each.required);
    const shown = (required.length === 0 ? keys.slice(0, 1) : required).slice(0, MOST_KEYS);
    if (shown.length === 0) return undefined;
    return `{${shown.map(({ name }) => `${valueText(name)}:…`).join(",")}}`;
  }

  #shapeOf(resolved: JsonObject): Shape {
    const listed = [...parts(resolved, "anyOf"), ...parts(resolved, "oneOf")];
    const distinct = new Set(
      listed.slice(0, 10 * MOST_FORMS).map((each) => this.#view.resolve(each)),
    );
    const branches = [...distinct].slice(0, MOST_FORMS);
    const forms = branches.filter((each) => hasFields(each, this.#view));
    const groups = branches.map(({ required }) => textsIn(required));
    const isRequiredOnly = forms.length === 0 && groups.some((group) => group.length > 0);
    const { additionalProperties: others } = resolved;
    return {
      common: this.#view.commonParts(resolved),
      forms,
      isCut: distinct.size > branches.length,
      needs: isRequiredOnly
        ? { isOne: Array.isArray(resolved["oneOf"]), groups: groups.filter((each) => each.length) }
        : undefined,
      others: isJsonObject(others) && Object.keys(others).length > 0 ? others : undefined,
    };
  }

  #facts(schema: JsonObject): string[] {
    const alternatives = this.#view.alternatives(schema);
    const limits = alternatives.flatMap((each) => [
      ...schemaLimits(each).map(({ text }) => text),
      ...this.#itemLimits(each).map(({ text }) => `each ${text}`),
    ]);
    const preset = this.#view.note(schema, "default");
    const examples = this.#view.note(schema, "examples");
    const isDeprecated = this.#view.note(schema, "deprecated") === true;
    return [
      ...new Set(limits),
      ...(preset === undefined ? [] : [`default ${valueText(preset)}`]),
      ...(Array.isArray(examples) && examples.length > 0
        ? [`for example ${valueText(examples[0])}`]
        : []),
      ...(isDeprecated ? ["deprecated"] : []),
    ];
  }

  #itemLimits({ items }: JsonObject): Limit[] {
    if (!isJsonObject(items)) return [];
    return this.#view.alternatives(items).flatMap(schemaLimits);
  }
}

function isEmpty({ common, forms, needs, others }: Shape): boolean {
  return common.length + forms.length === 0 && needs === undefined && others === undefined;
}

function hasFields(schema: JsonObject, view: SchemaView): boolean {
  return (
    view.commonParts(schema).length > 0 ||
    isJsonObject(schema["additionalProperties"]) ||
    view.alternatives(schema).some((each) => typesOf(each).includes("object"))
  );
}

function needsText({ isOne, groups }: NonNullable<Shape["needs"]>): string {
  const texts = groups.map((group) => group.map((name) => oneLine(name, 60)).join(" and "));
  return `give ${isOne ? "one" : "at least one"} of: ${texts.join("; ")}`;
}

function valueText(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? "", LONGEST_VALUE);
}
