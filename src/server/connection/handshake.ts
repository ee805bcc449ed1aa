// Opens the conversation in the server's protocol era, on one process. `initialize` goes first: every legacy
// server answers it, while some exit on the `server/discover` of 2026-07-28. A modern server refuses it, and
// then gets `server/discover`. Only a server that exits on `initialize` needs a second process, which is the
// supervisor's next attempt.

import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { ProtocolChoice } from "../../model/server-definition.ts";
import type { ProtocolEra } from "../../model/connection.ts";
import { oneLine } from "../../util/text.ts";
import { wireErrorOf } from "../transport/errors.ts";

export const MODERN_VERSION = "2026-07-28";
const UNSUPPORTED_VERSION = -32022;
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** How a host and a server call themselves. */
export interface Implementation {
  name: string;
  version: string;
}

export interface Handshake {
  era: ProtocolEra;
  protocolVersion: string;
  /** What the server said about itself: its answer to `initialize` or `server/discover`. */
  statement: JsonObject;
}

export interface HandshakeRequest {
  /** Sends one request; rejects with a PlugboardError. */
  request: (method: string, params: JsonObject) => Promise<unknown>;
  host: Implementation;
  capabilities: JsonObject;
  protocol: ProtocolChoice;
  /** The era to ask for first, if something is known. */
  expect?: ProtocolEra;
}

/** The `_meta` that 2026-07-28 puts into every request, because it has no session. */
export function requestMeta(
  host: Implementation,
  capabilities: JsonObject,
  /** The lowest level that the server should log. */
  logLevel?: string,
): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": host,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/logLevel": logLevel,
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

type HandshakeStep = (options: HandshakeRequest) => Promise<Handshake>;

/** The second step follows only an answer that refuses the first: silence or an exit proves nothing. */
async function orElse(
  first: HandshakeStep,
  second: HandshakeStep,
  options: HandshakeRequest,
): Promise<Handshake> {
  try {
    return await first(options);
  } catch (refusal) {
    // Some servers answer a question they do not know with something meaningless.
    const isNoise = first === discover && hasCode(refusal, "HANDSHAKE_FAILED");
    if (!isNoise && !isRefusal(refusal)) throw refusal;
    try {
      return await second(options);
    } catch (error) {
      // The refusal of `initialize` is more telling than "method not found" for `server/discover`.
      const isLess = first === initialize && isRefusal(error);
      throw isLess && !hasCode(error, "UNSUPPORTED_VERSION") ? refusal : error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof PlugboardError)) return false;
  switch (error.code) {
    case "SERVER_ERROR":
    case "UNSUPPORTED_VERSION":
      return true;
    case "HTTP_STATUS":
      // An outage proves nothing.
      return (error.status ?? 500) < 500;
    default:
      return false;
  }
}

function hasCode(error: unknown, code: PlugboardError["code"]): boolean {
  return error instanceof PlugboardError && error.code === code;
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
    statement: {
      ...result,
      capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
      serverInfo: toImplementation(result.serverInfo),
      instructions: typeof result.instructions === "string" ? result.instructions : undefined,
    },
  };
}

async function discover(options: HandshakeRequest): Promise<Handshake> {
  const ask = (): Promise<unknown> =>
    options.request("server/discover", { _meta: requestMeta(options.host, options.capabilities) });
  const result = await ask().catch((error: unknown) => {
    // Some servers refuse the version and list it as supported: we ask those once more.
    if (namesOurVersion(error)) return ask();
    throw error;
  });
  if (!isJsonObject(result) || !Array.isArray(result.supportedVersions)) {
    throw new PlugboardError("HANDSHAKE_FAILED", "the server's answer to discover is malformed");
  }
  if (!result.supportedVersions.includes(MODERN_VERSION)) {
    const offered = result.supportedVersions.slice(0, 10).map((each) => oneLine(String(each), 40));
    throw unsupported(offered.join(", ") || "none");
  }
  return { era: "modern", protocolVersion: MODERN_VERSION, statement: result };
}

function namesOurVersion(error: unknown): boolean {
  const wire = wireErrorOf(error);
  if (wire?.code !== UNSUPPORTED_VERSION || !isJsonObject(wire.data)) return false;
  return Array.isArray(wire.data.supported) && wire.data.supported.includes(MODERN_VERSION);
}

function unsupported(offered: string): PlugboardError {
  return new PlugboardError(
    "UNSUPPORTED_VERSION",
    `the server speaks protocol version ${offered}; Plugboard speaks ${MODERN_VERSION}, ${LEGACY_VERSIONS.join(", ")}`,
    { permanent: true },
  );
}

/** The SDK requires a name and a version, and some servers leave them out. */
function toImplementation(info: unknown): JsonObject {
  const given = isJsonObject(info) ? info : {};
  return {
    ...given,
    name: typeof given.name === "string" ? given.name : "unnamed",
    version: typeof given.version === "string" ? given.version : "0",
  };
}
