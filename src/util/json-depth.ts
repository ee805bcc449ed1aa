// How deep a JSON value is nested.

/** Deeper than any honest value; far less than what JSON.stringify can handle. */
export const MAX_DEPTH = 64;
/** Deeper than this, an answer or the arguments of a call are refused: whoever writes them as JSON may overflow the stack. */
export const REFUSED_DEPTH = 1000;

export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(MAX_DEPTH + 1, value);
}

/** Whether more than so many objects or lists are nested in each other. Recurses no deeper than that. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const child of value as unknown[]) {
      if (typeof child === "object" && isDeeperThan(levels - 1, child)) return true;
    }
    return false;
  }
  for (const key in value) {
    const child = (value as Record<string, unknown>)[key];
    if (typeof child === "object" && child !== null && isDeeperThan(levels - 1, child)) return true;
  }
  return false;
}
