// Bounds on a JSON Schema that a server sends: refuses what would hang or mislead the code that walks it
// later. Walks without recursion, so that depth cannot overflow the stack.

import { isJsonObject } from "../../types/json.ts";
import { MAX_DEPTH } from "../../../util/json-depth.ts";
import { followPointer } from "../../../util/json-pointer.ts";

const MAX_NODES = 20_000;

/** What is wrong with a schema, as the end of a sentence that begins with its name. */
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

/**
 * Recursion through a property describes a tree, which is fine; a reference that leads only to references is
 * not. Each reference is followed once (`followed`), because thousands to one long pointer would take minutes.
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
