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

/** An empty object for anything else than an object. */
export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The texts of a list. None for anything else than a list. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** What is at a path of keys in nested objects. Undefined if there is nothing. */
export function valueIn(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((node, key) => {
    if (Array.isArray(node)) return typeof key === "number" ? (node[key] as unknown) : undefined;
    return isJsonObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }, value);
}

/** The narrowest type of a value, as JSON Schema calls it. */
export function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Whether a value has one of these types of JSON Schema. Every integer is a number too. */
export function isOfType(value: unknown, types: readonly unknown[]): boolean {
  const type = jsonType(value);
  return types.includes(type) || (type === "integer" && types.includes("number"));
}
