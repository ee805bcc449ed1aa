// How long a value is as JSON, without writing it.

/** What a number, `true` or `null` takes, roughly. */
const SCALAR = 4;
/** Quotes, a comma or a colon, and brackets. */
const AROUND = 3;

/**
 * In characters, roughly: escapes are not counted. Infinity if it is more than `most`, or has more than `mostValues`
 * values; nothing is read beyond that. The value may have any depth.
 */
export function jsonLength(value: unknown, most: number, mostValues = Infinity): number {
  let length = 0;
  let values = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    values += 1;
    if (typeof each === "string") length += each.length + AROUND;
    else if (typeof each !== "object" || each === null) length += SCALAR;
    else if (Array.isArray(each)) {
      length += AROUND;
      for (const child of each as unknown[]) rest.push(child);
    } else {
      length += AROUND;
      for (const [key, child] of Object.entries(each)) {
        length += key.length + AROUND;
        rest.push(child);
      }
    }
    if (length > most || values > mostValues) return Infinity;
  }
  return length;
}
