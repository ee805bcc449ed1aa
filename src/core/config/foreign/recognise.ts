// What the applications look at to know their files.

import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** The servers of an object that has them by name; none for anything else. */
export function entries(servers: unknown): JsonObject[] {
  return isJsonObject(servers) ? Object.values(servers).filter(isJsonObject) : [];
}

/** Whether a server has one of these keys. */
export function someHas(servers: unknown, keys: readonly string[]): boolean {
  return entries(servers).some((server) => keys.some((key) => Object.hasOwn(server, key)));
}

/** Whether a text anywhere in the value matches. */
export function mentions(value: unknown, pattern: RegExp): boolean {
  if (typeof value === "string") return pattern.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => mentions(each, pattern));
}
