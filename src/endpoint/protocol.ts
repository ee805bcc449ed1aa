// The revisions of MCP that the endpoint speaks, and the keys with which 2026-07-28 carries in every message what
// earlier revisions agreed on once.

import type { ProtocolEra } from "../model/connection.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { packageVersion } from "../util/version.ts";

export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const MODERN_VERSIONS = ["2026-07-28"] as const;

const PREFIX = "io.modelcontextprotocol/";
export const META = {
  protocolVersion: `${PREFIX}protocolVersion`,
  clientInfo: `${PREFIX}clientInfo`,
  clientCapabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscriptionId: `${PREFIX}subscriptionId`,
} as const;

/** The extension with which a client says that it shows MCP Apps. */
export const APPS_EXTENSION = `${PREFIX}ui`;

export const SERVER_INFO = {
  name: "plugboard",
  title: "Plugboard",
  version: packageVersion(),
} as const;

/** Whether the params of a request say that it is of 2026-07-28 or later. */
export function claimsModern(params: unknown): boolean {
  const meta = isJsonObject(params) ? params._meta : undefined;
  return isJsonObject(meta) && META.protocolVersion in meta;
}

/** Results that a client may keep for a while, in 2026-07-28. */
const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** Adds to a result what its era asks for. */
export function inEra(era: ProtocolEra, method: string, result: JsonObject): JsonObject {
  if (era === "legacy") return result;
  const { _meta } = result;
  return {
    resultType: "complete",
    // A list is the caller's own, and may change at any time.
    ...(CACHEABLE.has(method) &&
      result.resultType === undefined && { ttlMs: 0, cacheScope: "private" }),
    ...result,
    _meta: { ...(isJsonObject(_meta) && _meta), [META.serverInfo]: SERVER_INFO },
  };
}
