// How many tokens of a prompt the definition of a tool takes. An estimate: every model counts in its own way, and a
// tokenizer would be larger than the rest of the package.

import type { JsonObject } from "../model/json.ts";
import type { Tool } from "../model/tool.ts";
import { estimateTokens } from "../util/tokens.ts";

/** What stands around the name, the description and the schema. */
const AROUND = estimateTokens(JSON.stringify({ name: "", description: "", parameters: "" }));

/** By schema: the boards of all sessions have the same one, and to write it as JSON is most of the work. */
const ofSchemas = new WeakMap<JsonObject, number>();

/** The name, the description and the schema as a model gets them. Not rounded, so that sums are exact. */
export function toolTokens({
  name,
  description,
  parameters,
}: Pick<Tool, "name" | "description" | "parameters">): number {
  return AROUND + estimateTokens(name) + estimateTokens(description) + schemaTokens(parameters);
}

function schemaTokens(schema: JsonObject): number {
  const known = ofSchemas.get(schema);
  if (known !== undefined) return known;
  const tokens = estimateTokens(JSON.stringify(schema));
  ofSchemas.set(schema, tokens);
  return tokens;
}
