// Any value as text.

/** Never throws: a value may be nested deeper than the stack. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "(nested too deep to show)";
  }
}
