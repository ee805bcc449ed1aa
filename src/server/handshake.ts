// Opens the conversation in whichever era the server speaks, on one process. `initialize` goes first:
// every legacy server answers it, while some exit on the `server/discover` of 2026-07-28; a server of the
// new era refuses it and is then asked in its own words. Only a server that exits on `initialize` needs a
// second process, and the supervisor's next attempt is that.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ProtocolChoice } from "../model/server-definition.ts";
import type { ProtocolEra } from "../model/connection.ts";
import { oneLine } from "../util/text.ts";

export const MODERN_VERSION = "2026-07-28";
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

export interface HostInfo {
  name: string;
  version: string;
}

export type Handshake =
  | { era: "legacy"; protocolVersion: string; initialize: JsonObject }
  | { era: "modern"; protocolVersion: string; discover: JsonObject };

export interface HandshakeRequest {
  /** Sends one request; rejects with a PlugboardError. */
  request: (method: string, params: JsonObject) => Promise<unknown>;
  host: HostInfo;
  capabilities: JsonObject;
  protocol: ProtocolChoice;
  /** The era to ask for first, where something is known. */
  expect?: ProtocolEra;
}

/** What 2026-07-28 puts into every request instead of a session. */
export function requestMeta(host: HostInfo, capabilities: JsonObject): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": host,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

export async function shakeHands(options: HandshakeRequest): Promise<Handshake> {
  switch (options.protocol) {
    case "legacy":
      return initialize(options);
    case MODERN_VERSION:
      return discover(options);
    case "auto":
      return options.expect === "modern"
        ? orElse(discover, initialize, options)
        : orElse(initialize, discover, options);
  }
}

type Step = (options: HandshakeRequest) => Promise<Handshake>;

/** The second step follows only an answer that refuses the first; silence and death are no evidence. */
async function orElse(first: Step, second: Step, options: HandshakeRequest): Promise<Handshake> {
  try {
    return await first(options);
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal;
    try {
      return await second(options);
    } catch (error) {
      // The first answer says more than "method not found" to the other era's question.
      throw isRefusal(error) && !isUnsupported(error) ? refusal : error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof PlugboardError &&
    (error.code === "SERVER_ERROR" || error.code === "UNSUPPORTED_VERSION")
  );
}

function isUnsupported(error: unknown): boolean {
  return error instanceof PlugboardError && error.code === "UNSUPPORTED_VERSION";
}

async function initialize(options: HandshakeRequest): Promise<Handshake> {
  const result = await options.request("initialize", {
    protocolVersion: LEGACY_VERSIONS[0],
    capabilities: options.capabilities,
    clientInfo: options.host,
  });
  if (!isJsonObject(result) || typeof result.protocolVersion !== "string") {
    throw new PlugboardError("HANDSHAKE_FAILED", "the server's answer to initialize is malformed");
  }
  if (!LEGACY_VERSIONS.includes(result.protocolVersion)) {
    throw unsupported(oneLine(result.protocolVersion, 40));
  }
  return {
    era: "legacy",
    protocolVersion: result.protocolVersion,
    initialize: {
      ...result,
      capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
      serverInfo: implementation(result.serverInfo),
      instructions: typeof result.instructions === "string" ? result.instructions : undefined,
    },
  };
}

async function discover(options: HandshakeRequest): Promise<Handshake> {
  const result = await options.request("server/discover", {
    _meta: requestMeta(options.host, options.capabilities),
  });
  if (!isJsonObject(result) || !Array.isArray(result.supportedVersions)) {
    throw new PlugboardError("HANDSHAKE_FAILED", "the server's answer to discover is malformed");
  }
  if (!result.supportedVersions.includes(MODERN_VERSION)) {
    const offered = result.supportedVersions.slice(0, 10).map((each) => oneLine(String(each), 40));
    throw unsupported(offered.join(", ") || "none");
  }
  return { era: "modern", protocolVersion: MODERN_VERSION, discover: result };
}

function unsupported(offered: string): PlugboardError {
  return new PlugboardError(
    "UNSUPPORTED_VERSION",
    `the server speaks protocol version ${offered}; the host speaks ${MODERN_VERSION}, ${LEGACY_VERSIONS.join(", ")}`,
    { permanent: true },
  );
}

/** The SDK insists on a name and a version; servers have been seen to leave them out. */
function implementation(info: unknown): JsonObject {
  const given = isJsonObject(info) ? info : {};
  return {
    ...given,
    name: typeof given.name === "string" ? given.name : "unnamed",
    version: typeof given.version === "string" ? given.version : "0",
  };
}
