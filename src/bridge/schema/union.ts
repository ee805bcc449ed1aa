// Alternatives: those that differ in their values become branches of one `anyOf`, those that only require different
// properties move to the description.

import { isJsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";
import { below, type SchemaConversion } from "./conversion.ts";
import { type Converted, NEVER, ONLY_NULL } from "./converted.ts";
import { type FlatSchema, toSchema } from "./flat-schema.ts";
import type { Rules } from "./provider-rules.ts";

type Union = FlatSchema["unions"][number];

const REQUIRED_ONLY = new Set(["required", "not", "title", "description"]);

/** Removes the unions whose branches only require properties, and describes them instead. */
export function describeRequiredChoices(flat: FlatSchema, context: SchemaConversion): void {
  flat.unions = flat.unions.filter((union) => {
    if (!union.branches.every(isRequiredOnly)) return true;
    const lists = (union.branches as { required: string[] }[]).map(({ required }) => {
      context.budget.spend(required.length);
      return required.join(" and ");
    });
    const count = union.keyword === "oneOf" ? "Exactly one" : "At least one";
    flat.described.push(`${count} of these must be given: ${oneLine(lists.join("; "), 500)}.`);
    context.notes.add(flat.place, `${union.keyword} moved to the description`);
    return false;
  });
}

function isRequiredOnly(branch: unknown): boolean {
  return (
    isJsonObject(branch) &&
    Array.isArray(branch.required) &&
    branch.required.length > 0 &&
    branch.required.every((name) => typeof name === "string") &&
    Object.keys(branch).every((key) => REQUIRED_ONLY.has(key))
  );
}

/** Converts one of the flat schema's unions; the other unions go into every branch. */
export function convertUnion(flat: FlatSchema, union: Union, context: SchemaConversion): Converted {
  const base = toSchema(flat);
  const others = flat.unions
    .filter((each) => each !== union)
    .map((each) => ({ [each.keyword]: each.branches }));
  const common = Object.keys(base).length > 0 ? [base, ...others] : others;
  const branches = union.branches.map((branch, index) => {
    const schema = common.length > 0 ? { allOf: [...common, branch] } : branch;
    return context.convert(schema, below(flat.place, union.keyword, index));
  });
  return joinAlternatives(branches, context.rules);
}

/** One schema that accepts what any of the alternatives accepts. */
export function joinAlternatives(alternatives: readonly Converted[], rules: Rules): Converted {
  const branches = new Map<string, Converted>();
  for (const each of alternatives.flatMap(flattenUnion)) {
    if (each.only !== undefined) continue;
    const key = `${each.mapping.kind} ${JSON.stringify(each.schema)}`;
    // Two schemas that look alike may stand for different values.
    branches.set(each.mapping.kind === "same" ? key : `${key} ${branches.size}`, each);
  }
  const all = [...branches.values()];
  const nullable = alternatives.some((each) => each.nullable);
  const [first] = all;
  if (first === undefined) return nullable ? ONLY_NULL : NEVER;
  const anyValue = all.find(isAnyValueAsText);
  if (all.length === 1) return { ...first, nullable };
  // Text for any value covers the other branches too.
  if (rules.closed && anyValue !== undefined) return { ...anyValue, nullable };
  return {
    schema: { anyOf: all.map((each) => each.schema) },
    mapping: { kind: "union", branches: all },
    nullable,
  };
}

/** The branches of a nested union, unless it has a description or another keyword of its own. */
function flattenUnion(converted: Converted): Converted[] {
  const { mapping, schema } = converted;
  if (mapping.kind !== "union" || Object.keys(schema).length > 1) return [converted];
  return mapping.branches.map((branch) => ({ ...branch, nullable: false }));
}

function isAnyValueAsText({ mapping }: Converted): boolean {
  return mapping.kind === "json" && mapping.types.length === 0;
}
