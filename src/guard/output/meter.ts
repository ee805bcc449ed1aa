// Makes every keyword of a compiled schema pay for what it is about to do, so that a check ends whatever
// the schema and the answer are. Between them the keywords apply every subschema there is, so nothing is
// for free: one pays for as many branches, properties, items or characters as it will look at.

import type { Ajv2020 } from "ajv/dist/2020.js";
import { _, type Code, type KeywordCxt } from "ajv/dist/core.js";
import type { Budget } from "./budget.ts";

/** Keywords that go through all properties of an object. */
const PER_PROPERTY = new Set([
  "additionalProperties",
  "maxProperties",
  "minProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
]);

/** Keywords that compare with values of the schema. */
const COMPARING = new Set(["const", "dependentRequired", "dependencies", "enum"]);

export function meter(ajv: Ajv2020, { spend }: Budget): void {
  for (const rule of Object.values(ajv.RULES.all)) {
    if (typeof rule !== "object" || !("code" in rule.definition)) continue;
    const { definition, keyword } = rule;
    const { code, type } = definition;
    definition.code = (cxt, ruleType) => {
      const { gen, schema } = cxt;
      const ownCost = COMPARING.has(keyword) ? deepSize(schema) : 1 + width(schema);
      const cost = dynamicCost(keyword, type, cxt);
      const paid = cost === undefined ? _`${ownCost}` : _`${ownCost} + ${cost}`;
      gen.code(_`${gen.scopeValue("func", { ref: spend })}(${paid})`);
      code(cxt, ruleType);
    };
  }
}

/** What depends on the value. ajv has checked its type by then. */
function dynamicCost(
  keyword: string,
  types: readonly string[],
  { gen, data }: KeywordCxt,
): Code | undefined {
  if (PER_PROPERTY.has(keyword))
    return _`${gen.scopeValue("func", { ref: propertyCost })}(${data})`;
  if (types.includes("array")) return _`${data}.length`;
  // Sixteen characters to a step: honest texts are long. A number has no length.
  return types.includes("string") ? _`(${data}.length >>> 4)` : undefined;
}

/** An object of very many properties is a table, many times as slow. */
function propertyCost(data: object): number {
  const count = Object.keys(data).length;
  return count < 1000 ? count : count * 8;
}

function width(schema: unknown): number {
  return typeof schema === "object" && schema !== null ? Object.keys(schema).length : 0;
}

/** In values and in stretches of text. The schema's depth is bounded. */
function deepSize(value: unknown): number {
  if (typeof value === "string") return 1 + (value.length >>> 6);
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + deepSize(each), 1);
}
