// What a request of 2026-07-28 repeats in HTTP headers, so that proxies between client and server can route by it without
// reading the body: the name of what it is about, and the parameters that a tool marks with `x-mcp-header`.

import { isJsonObject, type JsonObject, valueIn } from "./json.ts";

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The values of these are data, even where they look like a schema. */
const SKIPPED = new Set([KEY, "enum", "const", "default", "examples"]);
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);

const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** What `Mcp-Name` repeats: the tool, the prompt or the URI that a request names. */
export function nameIn(method: string, params: JsonObject): string | undefined {
  const key = NAMED_BY.get(method);
  const name = key === undefined ? undefined : params[key];
  return typeof name === "string" ? name : undefined;
}

export interface ParamHeader {
  /** The property names that lead from the arguments to the value. */
  path: string[];
  header: string;
}

/**
 * The headers that a schema declares, or what is wrong with them, as the end of a sentence. Only properties, and
 * properties of properties, may declare one: anywhere else it depends on the arguments whether it applies. The
 * schema must be within bounds already.
 */
export function readParamHeaders(schema: JsonObject): ParamHeader[] | string {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const queue: { node: unknown; path: string[] | undefined }[] = [{ node: schema, path: [] }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { node, path } = next;
    if (Array.isArray(node)) for (const each of node) queue.push({ node: each, path: undefined });
    if (!isJsonObject(node)) continue;
    const header = node[KEY];
    // A property that has the keyword as its name is a schema, not a declaration.
    if (header !== undefined && !isJsonObject(header)) {
      const fault = headerFault(header, node.type, path, names);
      if (fault !== undefined) return fault;
      if (typeof header !== "string" || path === undefined) continue;
      names.add(header.toLowerCase());
      found.push({ path, header });
    }
    for (const [key, child] of Object.entries(node)) {
      if (SKIPPED.has(key)) continue;
      if (key !== "properties" || !isJsonObject(child))
        queue.push({ node: child, path: undefined });
      else {
        for (const [name, property] of Object.entries(child)) {
          queue.push({ node: property, path: path && [...path, name] });
        }
      }
    }
  }
  return found;
}

function headerFault(
  header: unknown,
  type: unknown,
  path: string[] | undefined,
  names: ReadonlySet<string>,
): string | undefined {
  if (path === undefined || path.length === 0) return `has ${KEY} where it cannot be followed`;
  if (typeof header !== "string" || !TOKEN.test(header))
    return `has an ${KEY} that is not a header name`;
  if (!TYPES.has(type))
    return `has an ${KEY} on something that is not a string, integer or boolean`;
  if (names.has(header.toLowerCase())) return `has the same ${KEY} twice`;
  return undefined;
}

export function paramHeaders(
  declared: readonly ParamHeader[],
  args: JsonObject,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of declared) {
    const text = asText(valueIn(args, path));
    if (text !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = headerValue(text);
  }
  return headers;
}

function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** As it is if it is safe in a header, otherwise as base64 in the form that the specification gives. */
export function headerValue(value: string): string {
  const isSafe = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  if (isSafe && !(value.startsWith("=?base64?") && value.endsWith("?="))) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/** The text that a header stands for. Undefined for what claims to be base64 and is not. */
export function decodeHeaderValue(header: string): string | undefined {
  const value = header.trim();
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value;
  const encoded = value.slice("=?base64?".length, -"?=".length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}
