// `uniqueItems` in linear time: ajv compares every object of a list with every other.

import type { FuncKeywordDefinition } from "ajv/dist/core.js";
import type { Budget } from "./budget.ts";

export function uniqueItems({ spend }: Budget): FuncKeywordDefinition {
  return {
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    errors: false,
    error: { message: "must NOT have duplicate items" },
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items, spend),
  };
}

function areUnique(items: readonly unknown[], spend: Budget["spend"]): boolean {
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

/** The same text for equal values, whatever the order of their keys. */
function canonical(value: unknown, spend: Budget["spend"]): string {
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
