// The headers of one POST: those of the session, and those that 2026-07-28 wants mirrored from the body.

import type { JsonObject } from "../../types/json.ts";
import { headerValue, nameIn } from "../../types/param-headers.ts";

const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

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
  const name = nameIn(method, params);
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": headerValue(name) }),
  };
}

/** What a body is, in lower case and without parameters: `text/event-stream`. Media types have no case. */
export function mediaType(headers: Readonly<Record<string, string>>): string | undefined {
  return headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}
