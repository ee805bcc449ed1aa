// A parameter's type in a word or two: `number`, `string[]`, `"asc" | "desc"`.

import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import { oneLine } from "../../../util/text.ts";
import type { SchemaView } from "./schema-view.ts";

const MOST_CHOICES = 6;
const DEEPEST = 3;

export function typeName(schema: JsonObject, view: SchemaView, depth = 0): string {
  const alternatives = view.alternatives(schema).slice(0, MOST_CHOICES);
  const names = alternatives.flatMap((each) => namesOf(each, view, depth));
  return [...new Set(names)].join(" | ") || "any";
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

function namesOf(schema: JsonObject, view: SchemaView, depth: number): string[] {
  const choices = choicesOf(schema);
  if (choices !== undefined) return [listChoices(choices)];
  return typesOf(schema).map((type) => {
    if (type !== "array") return oneLine(type, 20);
    const { items } = schema;
    if (!isJsonObject(items) || depth >= DEEPEST) return "array";
    const item = typeName(items, view, depth + 1);
    return item.includes(" ") ? `(${item})[]` : `${item}[]`;
  });
}
