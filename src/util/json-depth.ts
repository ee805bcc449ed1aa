// How deep a JSON value is nested.

/** Deeper than any honest value; far less than what JSON.stringify can handle. */
export const MAX_DEPTH = 64;

/** Walks without recursion, so that depth cannot overflow the stack. */
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
