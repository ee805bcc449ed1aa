// Follows a JSON pointer in a URI fragment (`#/a/b`) inside the value that contains it.

import { percentDecoded } from "./text.ts";

/** Undefined where it leads nowhere, and for an anchor (`#name`). `#` is the whole value. */
export function followPointer(root: unknown, fragment: string): unknown {
  const [first, ...parts] = fragment.split("/");
  if (first !== "#") return undefined;
  let value: unknown = root;
  for (const part of parts) {
    if (typeof value !== "object" || value === null) return undefined;
    // A pointer in a URI fragment is percent-encoded.
    const key = percentDecoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}
