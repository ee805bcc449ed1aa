// Bounds the work that one answer may cause. The size of an answer does not bound it: two branches that each
// look at the same child double the work with every level. So each keyword of a compiled schema pays from a
// budget for as many branches, properties, items or characters as it is about to look at.

import type { Ajv2020 } from "ajv/dist/2020.js";
import { _, type Code, type FuncKeywordDefinition, type KeywordCxt } from "ajv/dist/core.js";

export interface StepBudget {
  refill: () => void;
  /** Throws when nothing is left. */
  spend: (steps: number) => void;
}

export function createBudget(limit: number): StepBudget {
  let left = limit;
  return {
    refill: () => {
      left = limit;
    },
    spend: (steps) => {
      left -= steps;
      if (left < 0) throw new RangeError("the budget of steps is spent");
    },
  };
}

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

export function meter(ajv: Ajv2020, { spend }: StepBudget): void {
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

/** The part of the cost that depends on the value. ajv has checked the type of the value before. */
function dynamicCost(
  keyword: string,
  types: readonly string[],
  { gen, data }: KeywordCxt,
): Code | undefined {
  if (PER_PROPERTY.has(keyword))
    return _`${gen.scopeValue("func", { ref: propertyCost })}(${data})`;
  if (types.includes("array")) return _`${data}.length`;
  // One step per sixteen characters, because honest texts are long. A number has no length.
  return types.includes("string") ? _`(${data}.length >>> 4)` : undefined;
}

/** An object with very many properties is a hash table in V8, which is many times slower. */
function propertyCost(data: object): number {
  const count = Object.keys(data).length;
  return count < 1000 ? count : count * 8;
}

function width(schema: unknown): number {
  return typeof schema === "object" && schema !== null ? Object.keys(schema).length : 0;
}

/** Counts values and stretches of text. The recursion ends because the depth of a schema is bounded. */
function deepSize(value: unknown): number {
  if (typeof value === "string") return 1 + (value.length >>> 6);
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + deepSize(each), 1);
}

/** `uniqueItems` in linear time. ajv compares every object of a list with every other one. */
export function uniqueItems({ spend }: StepBudget): FuncKeywordDefinition {
  return {
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    errors: false,
    error: { message: "must NOT have duplicate items" },
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items, spend),
  };
}

function areUnique(items: readonly unknown[], spend: StepBudget["spend"]): boolean {
  const plain = new Set<unknown>();
  const nested = new Set<string>();
  return items.every((item) => {
    const isNested = typeof item === "object" && item !== null;
    const seen: Set<unknown> = isNested ? nested : plain;
    const identity = isNested ? canonical(item, spend) : item;
    spend(1);
    return !seen.has(identity) && seen.add(identity);
  });
}

/** Equal values have the same text, whatever the order of their keys. */
function canonical(value: unknown, spend: StepBudget["spend"]): string {
  spend(1);
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, spend)).join(",")}]`;
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    spend(text.length >>> 6);
    return text;
  }
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts = members.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each, spend)}`);
  return `{${parts.join(",")}}`;
}
