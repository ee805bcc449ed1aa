// Alternatives: those that bring something of their own become branches of one `anyOf`, those that only
// ask for properties are said in words.

import { isJsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";
import { below, type Context, type Place } from "./context.ts";
import { NEVER, ONLY_NULL, type Piece } from "./piece.ts";
import { type Plain, toSchema } from "./plain.ts";
import type { Rules } from "./rules.ts";

type Union = Plain["unions"][number];

const DEMANDS = new Set(["required", "not", "title", "description"]);

/** Takes the unions out of `plain` that only ask for properties, and puts them into words. */
export function takeDemands(plain: Plain, place: Place, context: Context): void {
  plain.unions = plain.unions.filter((union) => {
    if (!union.branches.every(isDemand)) return true;
    const lists = (union.branches as { required: string[] }[]).map(({ required }) => {
      context.budget.spend(required.length);
      return required.join(" and ");
    });
    const count = union.keyword === "oneOf" ? "Exactly one" : "At least one";
    plain.spoken.push(`${count} of these must be given: ${oneLine(lists.join("; "), 500)}.`);
    context.notes.add(place, `${union.keyword} is said in words`);
    return false;
  });
}

function isDemand(branch: unknown): boolean {
  return (
    isJsonObject(branch) &&
    Array.isArray(branch.required) &&
    branch.required.length > 0 &&
    branch.required.every((name) => typeof name === "string") &&
    Object.keys(branch).every((key) => DEMANDS.has(key))
  );
}

/** `union` is one of the plain schema's; the others go into every branch. */
export function convertUnion(plain: Plain, union: Union, place: Place, context: Context): Piece {
  const base = toSchema(plain);
  const others = plain.unions
    .filter((each) => each !== union)
    .map((each) => ({ [each.keyword]: each.branches }));
  const parts = Object.keys(base).length > 0 ? [base, ...others] : others;
  const pieces = union.branches.map((branch, index) => {
    const at = { ...below(place, union.keyword, index), trail: plain.trail };
    return context.convert(parts.length > 0 ? { allOf: [...parts, branch] } : branch, at);
  });
  return joinPieces(pieces, context.rules);
}

/** One piece that takes what any of them takes. */
export function joinPieces(pieces: readonly Piece[], rules: Rules): Piece {
  const branches = new Map<string, Piece>();
  for (const piece of pieces.flatMap(spread)) {
    if (piece.only !== undefined) continue;
    const key = `${piece.mapping.kind} ${JSON.stringify(piece.schema)}`;
    // Two that look alike may stand for different values.
    branches.set(piece.mapping.kind === "same" ? key : `${key} ${branches.size}`, piece);
  }
  const all = [...branches.values()];
  const nullable = pieces.some((piece) => piece.nullable);
  const [first] = all;
  if (first === undefined) return nullable ? ONLY_NULL : NEVER;
  const open = all.find((piece) => isOpen(piece));
  if (all.length === 1) return { ...first, nullable };
  if (rules.closed && open !== undefined) return { ...open, nullable };
  return {
    schema: { anyOf: all.map((piece) => piece.schema) },
    mapping: { kind: "union", branches: all },
    nullable,
  };
}

/** A union in a union is one union, unless something is said about the inner one. */
function spread(piece: Piece): Piece[] {
  if (piece.mapping.kind !== "union" || Object.keys(piece.schema).length > 1) return [piece];
  return piece.mapping.branches.map((branch) => ({ ...branch, nullable: false }));
}

/** Any value at all, as text: nothing beside it says more. */
function isOpen(piece: Piece): boolean {
  return piece.mapping.kind === "json" && piece.mapping.types.length === 0;
}
