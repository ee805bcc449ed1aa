// Turns a server's JSON Schema into one that a provider accepts, and the model's arguments back into those that the
// server expects. The server still checks them against its own schema: this one only has to lead the model there.
//
// A subschema is flattened (flat-schema) and converted by its kind (convert), and what the provider cannot express
// moves to its description. Each conversion leaves a mapping, by which `decode` turns values back.

import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { readGiven, requireKind, TEXT } from "../../types/kinds.ts";
import {
  ConversionBudget,
  type SchemaConversion,
  ConversionNotes,
  type SchemaPlace,
} from "./conversion.ts";
import { convert, describeRequiredChoices } from "./convert.ts";
import { type ProviderSchema, toProviderSchema } from "./converted.ts";
import { decode } from "./decode.ts";
import { flatten } from "./flat-schema.ts";
import { type Rules, rulesOf, type SchemaProvider } from "./provider-rules.ts";

export type { SchemaProvider };

export interface NormalizedSchema {
  schema: JsonObject;
  /** Turns the arguments that a model gave for `schema` into those that the server's own schema asks for. */
  toOriginal(args: JsonObject): JsonObject;
  /** Parts of the schema that were dropped or reduced, for diagnostics: a JSON pointer and the change. */
  notes: string[];
}

const WRAPPER = "input";
const MAX_NESTING = 100;
const MAX_PARTS = 50_000;

/** Throws PlugboardError("UNSUPPORTED") for a schema that the provider accepts in no form. */
export function normalizeSchema(schema: JsonObject, provider: SchemaProvider): NormalizedSchema {
  requireKind("the provider", provider, TEXT);
  const rules = rulesOf(provider);
  if (rules === undefined) throw unsupported(`there are no rules for provider '${provider}'`);
  return readGiven("the schema", () => normalized(schema, rules));
}

function normalized(schema: JsonObject, rules: Rules): NormalizedSchema {
  if (!isJsonObject(schema)) throw unsupported("the schema is not an object");
  checkBounds(schema);
  const context: SchemaConversion = {
    rules,
    root: schema,
    budget: new ConversionBudget(),
    notes: new ConversionNotes(),
    totals: { properties: 0, enumValues: 0, characters: 0 },
  };
  const root = convertRoot(schema, context);
  checkLimits(context);
  return {
    schema: root.schema,
    notes: context.notes.finish(),
    toOriginal: (args) => {
      const decoded = decode(args, root.mapping);
      return isJsonObject(decoded) ? decoded : args;
    },
  };
}

function convertRoot(schema: JsonObject, context: SchemaConversion): ProviderSchema {
  const trail = { refs: new Set(["#"]) };
  const start: SchemaPlace = { path: "", level: 0, depth: 0, trail };
  // MCP arguments are always an object, and every provider demands one.
  const asObject = { allOf: [schema, { type: "object" }] };
  const trial = { ...context, budget: new ConversionBudget(), notes: new ConversionNotes() };
  const flat = flatten(asObject, start, trial);
  if (trial.budget.exceeded) throw unsupported("the schema is too large");
  describeRequiredChoices(flat, trial);
  // Alternatives are not allowed at the root: they move into a property, one level down.
  const level = flat.unions.length > 0 ? 1 : 0;
  const converted = convert(asObject, { ...start, level }, context);
  if (converted.only !== undefined)
    throw unsupported("the schema accepts no object, so no arguments");
  if (isRoot(converted.schema)) return converted;
  context.notes.add(start, `the arguments are inside '${WRAPPER}'`);
  context.totals.properties += 1;
  const wrapped = toProviderSchema(converted, context.rules, false);
  return {
    schema: {
      type: "object",
      properties: { [WRAPPER]: wrapped.schema },
      required: [WRAPPER],
      ...(context.rules.allRequired && { additionalProperties: false }),
    },
    mapping: { kind: "wrapped", field: WRAPPER, mapping: wrapped.mapping },
  };
}

function isRoot(schema: JsonObject): boolean {
  return schema.type === "object" && schema.enum === undefined;
}

function checkLimits({ rules, totals }: SchemaConversion): void {
  const { limits } = rules;
  if (limits === undefined) return;
  if (totals.properties > limits.properties) {
    throw unsupported(`the schema has more than ${limits.properties} properties`);
  }
  if (totals.characters > limits.characters) {
    throw unsupported(`the names in the schema have more than ${limits.characters} characters`);
  }
}

/** Throws for a schema that is nested too deep or too large to be walked recursively. Itself iterative. */
function checkBounds(schema: unknown): void {
  let parts = 0;
  const queue: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (["bigint", "function", "symbol"].includes(typeof next.value)) {
      throw unsupported("the schema is not JSON");
    }
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > MAX_NESTING) {
      throw unsupported(`the schema is nested more than ${MAX_NESTING} deep`);
    }
    const children = Object.values(next.value);
    parts += 1 + children.length;
    if (parts > MAX_PARTS) throw unsupported(`the schema has more than ${MAX_PARTS} parts`);
    for (const value of children) queue.push({ value, depth: next.depth + 1 });
  }
}

function unsupported(message: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", message, { permanent: true });
}
