// The arguments of the editor's tools: one schema each, for the model that writes them and for the check.

import { z } from "zod";
import { PlugboardError } from "../../../model/errors.ts";
import type { JsonObject } from "../../../model/json.ts";

/** As a tool's `parameters`. */
export function parametersOf(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return parameters;
}

/** Throws INVALID_ARGUMENTS, with the name of the argument. */
export function readArguments<Schema extends z.ZodObject>(
  schema: Schema,
  args: JsonObject,
): z.output<Schema> {
  const result = schema.safeParse(args);
  if (result.success) return result.data;
  const words = result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new PlugboardError("INVALID_ARGUMENTS", words.join("; "));
}
