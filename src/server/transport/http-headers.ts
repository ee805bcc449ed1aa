// The headers of one POST: those of the session, and those that 2026-07-28 wants mirrored from the body.

import type { JsonObject } from "../../model/json.ts";

const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The parameter that names what a request is about, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

export interface SessionHeaders {
  sessionId: string | undefined;
  protocolVersion: string | undefined;
}

export function sessionHeaders({
  sessionId,
  protocolVersion,
}: SessionHeaders): Record<string, string> {
  return {
    ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
    ...(protocolVersion !== undefined && { "mcp-protocol-version": protocolVersion }),
  };
}

/** Empty for legacy requests, which have no version in their `_meta`. */
export function mirroredHeaders(method: string, params: JsonObject): Record<string, string> {
  const meta = params._meta as JsonObject | undefined;
  const version = meta?.[PROTOCOL_VERSION_KEY];
  if (typeof version !== "string") return {};
  const name = params[NAMED_BY[method] ?? ""];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": headerValue(name) }),
  };
}

/** As it is if it is safe in a header, otherwise as base64 in the form that the specification gives. */
export function headerValue(value: string): string {
  const isSafe = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  if (isSafe && !(value.startsWith("=?base64?") && value.endsWith("?="))) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/** What a body is, in lower case and without parameters: `text/event-stream`. Media types have no case. */
export function mediaType(headers: Readonly<Record<string, string>>): string | undefined {
  return headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}
