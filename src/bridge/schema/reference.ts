// Follows a `$ref` inside the schema it stands in. Nothing is ever fetched.

import { own } from "./own.ts";

/** Undefined where it leads nowhere, or outside. */
export function resolveReference(root: object, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/") || ref.length > 1000) return undefined;
  let value: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = own(value, decode(part).replaceAll("~1", "/").replaceAll("~0", "~"));
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
