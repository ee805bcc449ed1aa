// A server's JSON Schema as a provider takes it, and the way back for the arguments. The server's own
// schema stays the one that counts: this one only has to get a model to meet it.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { checkBounds, unsupported } from "./bounds.ts";
import { Budget, type Context, Notes, type Place } from "./context.ts";
import { convert } from "./convert.ts";
import { decode } from "./decode.ts";
import { seal } from "./null.ts";
import type { Branch } from "./piece.ts";
import { toPlain } from "./plain.ts";
import { rulesOf, type SchemaProvider } from "./rules.ts";
import { takeDemands } from "./union.ts";

export type { SchemaProvider } from "./rules.ts";

export interface NormalizedSchema {
  schema: JsonObject;
  /** Arguments as a model gives them for `schema`, in the shape that the server's own schema asks for. */
  toOriginal(args: JsonObject): JsonObject;
  /** What was dropped or reduced, as JSON pointers with words: for diagnostics. */
  notes: string[];
}

const WRAPPER = "input";

/** Throws PlugboardError("UNSUPPORTED") for a schema no variant of which the provider takes. */
export function normalizeSchema(schema: JsonObject, provider: SchemaProvider): NormalizedSchema {
  const rules = rulesOf(provider);
  if (rules === undefined) throw unsupported(`there are no rules for provider '${provider}'`);
  if (!isJsonObject(schema)) throw unsupported("the schema is not an object");
  checkBounds(schema);
  const context: Context = {
    rules,
    root: schema,
    budget: new Budget(),
    notes: new Notes(),
    totals: { properties: 0, enumValues: 0, characters: 0 },
    convert: (each, place) => convert(each, place, context),
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

function convertRoot(schema: JsonObject, context: Context): Branch {
  const trail = { refs: new Set(["#"]), parent: undefined };
  const start: Place = { path: "", level: 0, depth: 0, trail };
  // Every provider wants an object, and MCP knows no other arguments.
  const asObject = { allOf: [schema, { type: "object" }] };
  const aside = { ...context, budget: new Budget(), notes: new Notes() };
  const probe = toPlain(asObject, start, aside);
  if (aside.budget.exceeded) throw unsupported("the schema is too large");
  takeDemands(probe, start, aside);
  // Alternatives do not stand at the root: they move into a property, one level down.
  const level = probe.unions.length > 0 ? 1 : 0;
  const piece = convert(asObject, { ...start, level }, context);
  if (piece.only !== undefined) throw unsupported("the schema takes no object, so no arguments");
  if (isRoot(piece.schema)) return piece;
  context.notes.add(start, `the arguments are inside of '${WRAPPER}'`);
  context.totals.properties += 1;
  const sealed = seal(piece, context.rules, false);
  return {
    schema: {
      type: "object",
      properties: { [WRAPPER]: sealed.schema },
      required: [WRAPPER],
      ...(context.rules.allRequired && { additionalProperties: false }),
    },
    mapping: { kind: "wrapped", field: WRAPPER, mapping: sealed.mapping },
  };
}

function isRoot(schema: JsonObject): boolean {
  return schema.type === "object" && schema.enum === undefined;
}

function checkLimits({ rules, totals }: Context): void {
  const { limits } = rules;
  if (limits === undefined) return;
  if (totals.properties > limits.properties) {
    throw unsupported(`the schema has more than ${limits.properties} properties`);
  }
  if (totals.characters > limits.characters) {
    throw unsupported(`the names in the schema have more than ${limits.characters} characters`);
  }
}
