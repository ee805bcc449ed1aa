// Removes secrets from what a server lists. What a call has to repeat, such as a name, cannot be changed: an item
// that has a secret there is left out.

import { mapStrings, someString } from "../../util/value-strings.ts";
import { isJsonObject, type JsonObject, objectIn } from "./json.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { ToolDefinition } from "./tool.ts";

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/** These keywords hold schemas under names that the server chose. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** These keywords hold a schema or a list of schemas. What is under any other one is not read as a schema. */
const SCHEMAS = new Set(
  (
    "items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties " +
    "propertyNames allOf anyOf oneOf not if then else contentSchema"
  ).split(" "),
);
/** A call must have these values, or the schema refers to itself with them. */
const FIXED = new Set([
  "enum",
  "const",
  "pattern",
  "required",
  "dependentRequired",
  "dependencies",
  "$ref",
  "$dynamicRef",
  "$anchor",
  "$dynamicAnchor",
]);

/** The tool without secrets, or why it is left out, as the end of a sentence about it. The same tool if it has none. */
export function toolWithoutSecrets<Tool extends ToolDefinition>(
  tool: Tool,
  redact: Redact,
): Tool | string {
  if (!hasSecret(tool, redact)) return tool;
  const { name, inputSchema, outputSchema, ...rest } = tool;
  if (hasSecret(name, redact)) return "its name has a credential in it";
  const input = schemaWithoutSecrets(inputSchema, redact);
  if (typeof input === "string") return `its inputSchema ${input}`;
  const output = outputSchema && schemaWithoutSecrets(outputSchema, redact);
  if (typeof output === "string") return `its outputSchema ${output}`;
  // oxlint-disable-next-line no-unsafe-type-assertion -- the same members
  return {
    name,
    ...dataWithoutSecrets(rest, redact),
    inputSchema: input,
    ...(output !== undefined && { outputSchema: output }),
  } as Tool;
}

export function promptWithoutSecrets(
  prompt: PromptDefinition,
  redact: Redact,
): PromptDefinition | string {
  if (hasSecret(prompt.name, redact)) return "its name has a credential in it";
  const names = prompt.arguments?.map(({ name }) => name);
  if (hasSecret(names, redact)) return "the name of an argument has a credential in it";
  return dataWithoutSecrets(prompt, redact);
}

/** Changes every string and every key. */
export function dataWithoutSecrets<Value>(value: Value, redact: Redact): Value {
  return hasSecret(value, redact) ? mapStrings(value, redact) : value;
}

/**
 * The schema without secrets, or, as the end of a sentence, where it has one that cannot be removed. A default with
 * a secret is left out: in its place somebody would send the mark. Recursive, so the depth must have been bounded.
 */
export function schemaWithoutSecrets(schema: JsonObject, redact: Redact): JsonObject | string {
  if (!hasSecret(schema, redact)) return schema;
  let fault: string | undefined;
  const clean = (node: unknown, isByName = false): unknown => {
    if (typeof node === "string") return redact(node);
    if (Array.isArray(node)) return node.map((each) => clean(each));
    if (!isJsonObject(node)) return node;
    const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
      if (isByName) {
        if (hasSecret(key, redact)) fault ??= "has a credential in the name of a property";
        return [[key, clean(value)]];
      }
      if (FIXED.has(key)) {
        if (hasSecret(value, redact)) fault ??= `has a credential in "${key}"`;
        return [[key, value]];
      }
      if (key === "default") return hasSecret(value, redact) ? [] : [[key, value]];
      if (NAMED_SCHEMAS.has(key)) return [[key, clean(value, true)]];
      if (SCHEMAS.has(key)) return [[key, clean(value)]];
      return [[redact(key), dataWithoutSecrets(value, redact)]];
    });
    // Object.fromEntries defines keys, so `__proto__` stays a key.
    return Object.fromEntries(entries);
  };
  const cleaned = clean(schema);
  return fault ?? objectIn(cleaned);
}

function hasSecret(value: unknown, redact: Redact): boolean {
  return someString(value, (text) => redact(text) !== text);
}
