// The revisions of MCP that the endpoint speaks, and the keys with which 2026-07-28 carries in every message what
// earlier revisions agreed on once.

import type { ProtocolEra } from "../../core/types/connection.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import { packageVersion } from "../../util/version.ts";

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

/** The metadata of a message, empty if it has none. */
export function metaOf({ _meta }: JsonObject): JsonObject {
  return isJsonObject(_meta) ? _meta : NO_META;
}

const NO_META: JsonObject = Object.freeze({});

/** Whether the params of a request say that it is of 2026-07-28 or later. */
export function claimsModern(params: JsonObject): boolean {
  return Object.hasOwn(metaOf(params), META.protocolVersion);
}

export function isModernVersion(version: string): boolean {
  return (MODERN_VERSIONS as readonly string[]).includes(version);
}

export function isLegacyVersion(version: string): boolean {
  return (LEGACY_VERSIONS as readonly string[]).includes(version);
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
  return {
    resultType: "complete",
    // A list is the caller's own, and may change at any time.
    ...(CACHEABLE.has(method) &&
      result.resultType === undefined && { ttlMs: 0, cacheScope: "private" }),
    ...result,
    _meta: { ...metaOf(result), [META.serverInfo]: SERVER_INFO },
  };
}
