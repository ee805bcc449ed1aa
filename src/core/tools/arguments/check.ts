// Compares arguments with a tool's schema at every depth: types, limits, missing and unknown fields. It reports only what
// every form of the schema refuses, since the server may understand more than its schema says.

import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { schemaLimits } from "./limits.ts";
import {
  choicesOf,
  type ObjectFields,
  type Parameter,
  parts,
  type SchemaView,
} from "./schema-view.ts";
import { allows, itemSchema, misfit, oddityIn, word } from "./typed.ts";

export type ArgumentFinding =
  | { kind: "problem"; text: string }
  | { kind: "missing"; path: string; parameter: Parameter }
  /** The server may refuse it, or read it differently. */
  | { kind: "warning"; text: string };

/** In a message. */
const MOST_NAMES = 20;
/**
 * A schema can have more forms than there is time for, above all one that refers to itself. What is not looked at any
 * more is left to the server.
 */
const MOST_STEPS = 200_000;
/** A value that could have more forms than this is tried in none of them. */
const MOST_FORMS = 50;
/** What takes as long as a step: so many characters or items. */
const STEP_SIZE = 100;

export function checkArguments(
  args: JsonObject,
  root: JsonObject,
  view: SchemaView,
): ArgumentFinding[] {
  return new Check(view).forms(args, root, "", view.alternatives(root));
}

class Check {
  readonly #view: SchemaView;
  #steps = 0;

  constructor(view: SchemaView) {
    this.#view = view;
  }

  #value(value: unknown, schema: JsonObject, path: string): ArgumentFinding[] {
    if (!this.#hasTime(1)) return [];
    const forms = this.#view.alternatives(schema).filter((each) => {
      this.#steps += choicesOf(each)?.length ?? 1;
      return allows(each, value);
    });
    if (forms.length > 0) return this.forms(value, schema, path, forms);
    const odd = oddityIn(schema, this.#view);
    if (odd !== undefined) return [{ kind: "warning", text: oddText(path, odd) }];
    return [{ kind: "problem", text: `${path}: ${misfit(value, schema, this.#view)}` }];
  }

  /** Whether there is time for so many steps more. */
  #hasTime(steps: number): boolean {
    this.#steps += steps;
    return this.#steps + this.#view.visited <= MOST_STEPS;
  }

  /** What is wrong whichever of the forms is meant; else, what is wrong with the form that fits best. */
  forms(
    value: unknown,
    schema: JsonObject,
    path: string,
    forms: readonly JsonObject[],
  ): ArgumentFinding[] {
    const always = isJsonObject(value) ? this.#object(value, schema, path) : [];
    if (always.some(isFailure) || forms.length > MOST_FORMS) return always;
    const resolved = this.#view.resolve(schema);
    const tried = forms.map((form) => [
      ...this.#limits(value, form, path),
      ...this.#items(value, form, path),
      ...(isJsonObject(value) && form !== resolved ? this.#object(value, form, path) : []),
    ]);
    const failures = tried.map((each) => each.filter(isFailure).length);
    return [...always, ...(tried[failures.indexOf(Math.min(...failures))] ?? [])];
  }

  #object(value: JsonObject, schema: JsonObject, path: string): ArgumentFinding[] {
    const object = this.#view.object(schema);
    if (!this.#hasTime(object.fields.size + object.undescribed.size)) return [];
    const absent = [...object.undescribed].filter((name) => !Object.hasOwn(value, name));
    const findings: ArgumentFinding[] = absent.length === 0 ? [] : [undescribed(absent, path)];
    for (const [name, each] of Object.entries(value)) {
      const field = object.fields.get(name);
      findings.push(
        ...(field === undefined ? this.#unknown(name, object, path) : []),
        ...this.#value(each, field?.schema ?? object.others, joined(path, name)),
      );
    }
    for (const parameter of object.fields.values()) {
      const { name, required } = parameter;
      if (!required || Object.hasOwn(value, name)) continue;
      findings.push({ kind: "missing", path: joined(path, name), parameter });
    }
    return findings;
  }

  /** A key that looks mistyped may still be one that the server knows: where it was given as JSON, nothing is refused. */
  #unknown(name: string, object: ObjectFields, path: string): ArgumentFinding[] {
    if (object.isOpen || object.undescribed.has(name)) return [];
    if (!this.#hasTime(object.fields.size)) return [];
    if (object.isClosed) return [{ kind: "problem", text: unknownText(name, object, path) }];
    const meant = closest(name, [...object.fields.keys()]);
    if (meant === undefined) return [];
    const text = `the schema does not describe '${shortName(joined(path, name))}'; did you mean '${shortName(meant)}'?`;
    return [{ kind: "warning", text }];
  }

  #items(value: unknown, form: JsonObject, path: string): ArgumentFinding[] {
    if (!Array.isArray(value) || !isJsonObject(form["items"])) return [];
    return value.flatMap((item, at) => this.#value(item, itemSchema(form), `${path}[${at}]`));
  }

  #limits(value: unknown, form: JsonObject, path: string): ArgumentFinding[] {
    const all = [form, ...parts(form, "allOf").map((each) => this.#view.resolve(each))];
    const size = typeof value === "string" || Array.isArray(value) ? value.length / STEP_SIZE : 1;
    const broken = all
      .flatMap(schemaLimits)
      .filter((limit) => this.#hasTime(size) && !limit.allows(value));
    return broken.map(({ text }) => ({
      kind: "problem",
      text: `${path === "" ? "the arguments" : path}: expected ${text}, got ${word(value)}`,
    }));
  }
}

function isFailure({ kind }: ArgumentFinding): boolean {
  return kind !== "warning";
}

export function oddText(key: string, odd: string): string {
  return `${key}: the schema is not sound here: ${odd}`;
}

/** `path` is the object that the key was given in; empty for the arguments themselves. */
export function unknownText(name: string, { fields }: ObjectFields, path: string): string {
  const names = [...fields.keys()];
  const meant = closest(name, names);
  const [what, takes] = path === "" ? ["parameter", "the tool"] : ["field", `'${shortName(path)}'`];
  const known = `${takes} takes ${names.length === 0 ? "none" : listed(names)}`;
  const help = meant === undefined ? known : `did you mean '${shortName(joined(path, meant))}'?`;
  return `there is no ${what} '${shortName(joined(path, name))}'; ${help}`;
}

function undescribed(names: readonly string[], path: string): ArgumentFinding {
  const place = path === "" ? "" : ` in '${shortName(path)}'`;
  return {
    kind: "warning",
    text: `the schema requires ${listed(names)}${place}, but does not describe it`,
  };
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function shortName(name: string): string {
  return oneLine(name, 60);
}

/** `a, b and 3 more` */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(shortName);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
