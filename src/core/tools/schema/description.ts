// Moves what a provider's schema cannot express into the description, where the model reads it.

import type { JsonObject } from "../../types/json.ts";
import { oneLine, plainText } from "../../../util/text.ts";

const WORDS: Readonly<Record<string, string>> = {
  minimum: "At least",
  maximum: "At most",
  exclusiveMinimum: "More than",
  exclusiveMaximum: "Less than",
  multipleOf: "A multiple of",
  minLength: "Characters, at least",
  maxLength: "Characters, at most",
  minItems: "Items, at least",
  maxItems: "Items, at most",
  minProperties: "Properties, at least",
  maxProperties: "Properties, at most",
  pattern: "Pattern",
  format: "Format",
  default: "Default",
  examples: "Examples",
  enum: "One of",
  patternProperties: "Properties by pattern",
  propertyNames: "Property names",
  dependentRequired: "Needed together",
};

export function keywordInWords(keyword: string, value: unknown): string {
  if (keyword === "uniqueItems") return "No item twice.";
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  return `${WORDS[keyword] ?? keyword}: ${oneLine(shown, 200)}.`;
}

/** Puts `before` in front of the description and `after` behind it, without blanks and repetitions. */
export function addToDescription(
  schema: JsonObject,
  before: string,
  after: readonly string[] = [],
): void {
  const parts: string[] = [];
  const current = typeof schema.description === "string" ? schema.description : "";
  for (const part of [before, current, ...after]) {
    const text = plainText(part).trim();
    if (text !== "" && !parts.includes(text)) parts.push(text);
  }
  if (parts.length > 0) schema.description = parts.join(" ");
}
