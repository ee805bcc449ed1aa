// How long a value is as JSON, without writing it.

/** What a number, `true` or `null` takes, roughly. */
const SCALAR = 4;
/** Quotes, a comma or a colon, and brackets. */
const AROUND = 3;

/**
 * Whether the value is longer than so many characters as JSON, roughly: escapes are not counted. Stops reading as soon
 * as it is, and takes a value of any depth.
 */
export function isLongerThan(max: number, value: unknown): boolean {
  let length = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const each = rest.pop();
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
    if (length > max) return true;
  }
  return false;
}
