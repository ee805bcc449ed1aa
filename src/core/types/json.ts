// JSON as it was received: its properties are unknown until they are checked.

export type JsonObject = { [key: string]: unknown };

/** Undefined for a text that is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is at a path of keys in nested objects. Undefined if there is nothing. */
export function valueIn(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((node, key) => {
    if (Array.isArray(node)) return typeof key === "number" ? (node[key] as unknown) : undefined;
    return isJsonObject(node) ? node[key] : undefined;
  }, value);
}
