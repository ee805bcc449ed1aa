// Bounds on a JSON Schema a server sends: what would hang or mislead whoever walks it later is refused
// here. Every walk is iterative, so that depth cannot overflow the stack.

import { isJsonObject } from "../model/json.ts";
import { followPointer } from "../util/json-pointer.ts";

const MAX_DEPTH = 64;
const MAX_NODES = 20_000;

/** Says what is wrong with a schema, as the end of a sentence that begins with its name. */
export function schemaFault(schema: unknown): string | undefined {
  let nodes = 0;
  const followed = new Set<string>();
  const queue: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    nodes += 1;
    if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
    if (nodes > MAX_NODES) return `has more than ${MAX_NODES} parts`;
    if (isJsonObject(value) && typeof value.$ref === "string") {
      const fault = refFault(schema, value.$ref, followed);
      if (fault !== undefined) return fault;
    }
    for (const child of Object.values(value)) queue.push({ value: child, depth: depth + 1 });
  }
  return undefined;
}

/** Whether a value is nested deeper than anything honest, and than JSON.stringify can go. */
export function isTooDeep(value: unknown): boolean {
  const queue: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > MAX_DEPTH) return true;
    for (const child of Object.values(next.value)) {
      queue.push({ value: child, depth: next.depth + 1 });
    }
  }
  return false;
}

/**
 * Recursion through a property is a tree and fine; a reference that leads only to references is not.
 * Each reference is followed once (`followed`): thousands to one long pointer would otherwise take minutes.
 */
function refFault(root: unknown, ref: string, followed: Set<string>): string | undefined {
  const path = new Set<string>();
  for (let current = ref; !followed.has(current);) {
    if (path.has(current)) return "has a $ref that leads back to itself";
    if (!current.startsWith("#")) return "refers outside of itself ($ref)";
    path.add(current);
    const target = followPointer(root, current);
    if (!isJsonObject(target) || typeof target.$ref !== "string") break;
    current = target.$ref;
  }
  for (const each of path) followed.add(each);
  return undefined;
}

/** About how many bytes a value takes as JSON; `limit + 1` for anything above `limit`. */
export function measure(value: unknown, limit: number): number {
  let size = 0;
  const queue: unknown[] = [value];
  for (; queue.length > 0 && size <= limit;) {
    const next = queue.pop();
    size += 8;
    if (typeof next === "string") size += next.length;
    if (typeof next !== "object" || next === null) continue;
    // A list of millions must not be copied to find out that it is too long.
    if (Array.isArray(next) && next.length > limit) return limit + 1;
    for (const key in next) {
      if (size > limit) break;
      size += key.length;
      queue.push((next as Record<string, unknown>)[key]);
    }
  }
  return Math.min(size, limit + 1);
}
