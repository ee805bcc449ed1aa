// An example of a tool's arguments, checked against its schema.

import { exampleArguments, exampleWords } from "../tools/arguments/example.ts";
import { SchemaView } from "../tools/arguments/schema-view.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";

export interface ExampleCall {
  /** As on a command line, not yet quoted for a shell. */
  words: string[];
  /** Whether the schema accepts it. Not every schema can be checked or satisfied. */
  fits: boolean;
}

/** Undefined where the schema gives nothing to make an example from. */
export async function exampleCall(schema: JsonObject): Promise<ExampleCall | undefined> {
  const tries = exampleArguments(schema);
  const [first] = tries;
  if (first === undefined) return undefined;
  // Loaded here, since most tools are listed without an example.
  const { compileSchema } = await import("../guard/output/compile.ts");
  const compiled = await compileSchema(schema);
  const fitting =
    compiled.kind === "enforced" && compiled.ignored.length === 0
      ? tries.find((args) => compiled.check(withDefaults(args, schema)).kind === "valid")
      : undefined;
  const words = await exampleWords(fitting ?? first, schema);
  return { words, fits: fitting !== undefined };
}

/** As the server sees them: what is required and has a default may be left out. */
function withDefaults(args: JsonObject, schema: JsonObject): JsonObject {
  const view = new SchemaView(schema);
  const filled = { ...args };
  const required = view.resolve(schema)["required"];
  for (const name of Array.isArray(required) ? required : []) {
    const part = typeof name === "string" ? view.object(schema).fields.get(name) : undefined;
    const preset = part && view.note(part.schema, "default");
    if (preset !== undefined && isJsonObject(args) && !Object.hasOwn(args, name)) {
      filled[name] = preset;
    }
  }
  return filled;
}
