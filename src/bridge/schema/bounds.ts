// What is refused before anything walks it recursively.

import { PlugboardError } from "../../model/errors.ts";

const MAX_NESTING = 100;
const MAX_PARTS = 50_000;

/** Throws UNSUPPORTED for a schema that nests too deep or is too large. Iterative, whatever the depth. */
export function checkBounds(schema: unknown): void {
  let parts = 0;
  const queue: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (["bigint", "function", "symbol"].includes(typeof next.value)) {
      throw unsupported("the schema is not JSON");
    }
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > MAX_NESTING) {
      throw unsupported(`the schema is nested more than ${MAX_NESTING} deep`);
    }
    const children = Object.values(next.value);
    parts += 1 + children.length;
    if (parts > MAX_PARTS) throw unsupported(`the schema has more than ${MAX_PARTS} parts`);
    for (const value of children) queue.push({ value, depth: next.depth + 1 });
  }
}

export function unsupported(message: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", message, { permanent: true });
}
