// Follows a JSON pointer in a URI fragment (`#/a/b`) inside the value it stands in.

/** Undefined where it leads nowhere; the whole value for an empty one. */
export function followPointer(root: unknown, fragment: string): unknown {
  let value: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

/** A pointer in a URI fragment is percent-encoded. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
