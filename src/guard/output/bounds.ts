// Bounds on a JSON value, found out without ever looking at more of it than they allow.

export interface Bounds {
  depth: number;
  /** Objects, lists and everything in them. */
  values: number;
}

const TOO_MANY = -1;
const TOO_DEEP = -2;

/** Which bound a value exceeds, as the end of a sentence that begins with its name. */
export function excess(value: unknown, bounds: Bounds): string | undefined {
  const left = count(value, bounds.depth, bounds.values);
  if (left === TOO_DEEP) return `is nested more than ${bounds.depth} deep`;
  return left === TOO_MANY ? `has more than ${bounds.values} values` : undefined;
}

/** How many more values there may be, or which bound was met. Recursion ends with the depth. */
function count(value: unknown, depth: number, left: number): number {
  let rest = left - 1;
  if (typeof value !== "object" || value === null) return Math.max(rest, TOO_MANY);
  if (depth === 0) return TOO_DEEP;
  const members = Array.isArray(value) ? value : Object.values(value);
  if (members.length > rest) return TOO_MANY;
  for (const member of members) {
    rest = count(member, depth - 1, rest);
    if (rest < 0) return rest;
  }
  return rest;
}
