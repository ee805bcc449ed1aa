// Opens the conversation in the server's protocol era. On stdio `initialize` goes first: every legacy server
// answers it, while some exit on the `server/discover` of 2026-07-28. A modern server refuses it, and then gets
// `server/discover`. Only a server that exits on `initialize` needs a second process, which is the supervisor's
// next attempt. Over HTTP `server/discover` goes first, and whatever is not a clear answer to it leads to
// `initialize`.

import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { ProtocolChoice } from "../../model/server-definition.ts";
import type { ProtocolEra } from "../../model/connection.ts";
import { oneLine } from "../../util/text.ts";
import { wireErrorOf } from "../transport/errors.ts";

export const MODERN_VERSION = "2026-07-28";
const UNSUPPORTED_VERSION = -32022;
const TOO_MANY_REQUESTS = 429;
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
  /** The other era was asked first, and the server was out of order then: another time it may speak that one. */
  isEraDoubtful?: true;
}

export interface HandshakeQuestion {
  /** Milliseconds to wait for the answer. */
  timeout: number;
  /** The server need not know the question: whatever goes wrong is its answer, and the conversation goes on. */
  isProbe: boolean;
}

export interface HandshakeRequest {
  /** Sends one request; rejects with a PlugboardError. */
  request: (method: string, params: JsonObject, question: HandshakeQuestion) => Promise<unknown>;
  host: Implementation;
  capabilities: JsonObject;
  protocol: ProtocolChoice;
  /** Milliseconds for the whole handshake. */
  timeout: number;
  /** Milliseconds until silence to `server/discover` leads to `initialize`. Without it, silence is a timeout. */
  probeTimeout?: number;
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
  const all: HandshakeQuestion = { timeout: options.timeout, isProbe: false };
  switch (options.protocol) {
    case "legacy":
      return initialize(options, all);
    case MODERN_VERSION:
      return discover(options, all);
    case "auto":
      return options.expect === "modern" ? discoverFirst(options) : initializeFirst(options, all);
  }
}

/** `server/discover` follows only an answer that refuses `initialize`: silence or an exit proves nothing. */
async function initializeFirst(
  options: HandshakeRequest,
  all: HandshakeQuestion,
): Promise<Handshake> {
  try {
    return await initialize(options, all);
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal;
    try {
      const handshake = await discover(options, { ...all, isProbe: isOutage(refusal) });
      return isOutage(refusal) ? { ...handshake, isEraDoubtful: true } : handshake;
    } catch (error) {
      // The refusal of `initialize` is more telling than "method not found" for `server/discover`.
      if (isOutage(refusal) || (isRefusal(error) && !hasCode(error, "UNSUPPORTED_VERSION"))) {
        throw refusal;
      }
      throw error;
    }
  }
}

/** Servers that do not know `server/discover` answer it with anything: an outage, a web page, an error without an id. */
async function discoverFirst(options: HandshakeRequest): Promise<Handshake> {
  const { timeout, probeTimeout = timeout } = options;
  try {
    return await discover(options, { timeout: probeTimeout, isProbe: true });
  } catch (noAnswer) {
    const isSilent = hasCode(noAnswer, "TIMEOUT");
    const left = isSilent ? timeout - probeTimeout : timeout;
    if (left <= 0 || !leavesEraOpen(noAnswer)) throw noAnswer;
    const rest: HandshakeQuestion = { timeout: left, isProbe: false };
    try {
      const handshake = await initialize(options, rest);
      return isOutage(noAnswer) ? { ...handshake, isEraDoubtful: true } : handshake;
    } catch (refusal) {
      // A modern server was only slow, or out of order for a moment.
      const wasMomentary = isSilent || isOutage(noAnswer) || hasCode(noAnswer, "NETWORK");
      if (!wasMomentary || !isRefusal(refusal) || isOutage(refusal)) throw refusal;
      return await discover(options, rest).catch((error: unknown) => {
        throw isRefusal(error) ? refusal : error;
      });
    }
  }
}

/** Whether the failed question says nothing about the other era. Only "sign in" and "later" concern both. */
function leavesEraOpen(error: unknown): boolean {
  if (!(error instanceof PlugboardError) || error.status === TOO_MANY_REQUESTS) return false;
  switch (error.code) {
    case "NEEDS_AUTH":
    case "REFUSED_ADDRESS":
    case "UNRESOLVED_VALUE":
    case "CANCELLED":
      return false;
    default:
      return true;
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof PlugboardError) || error.status === TOO_MANY_REQUESTS) return false;
  return ["SERVER_ERROR", "UNSUPPORTED_VERSION", "HTTP_STATUS"].includes(error.code);
}

/** Anybody between us and the server may answer with these when it is down. */
function isOutage(error: unknown): boolean {
  return error instanceof PlugboardError && (error.status ?? 0) >= 500;
}

function hasCode(error: unknown, code: PlugboardError["code"]): boolean {
  return error instanceof PlugboardError && error.code === code;
}

async function initialize(
  options: HandshakeRequest,
  question: HandshakeQuestion,
): Promise<Handshake> {
  const params = {
    protocolVersion: LEGACY_VERSIONS[0],
    capabilities: options.capabilities,
    clientInfo: options.host,
  };
  const result = await options.request("initialize", params, question);
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

async function discover(
  options: HandshakeRequest,
  question: HandshakeQuestion,
): Promise<Handshake> {
  const params = { _meta: requestMeta(options.host, options.capabilities) };
  const ask = (): Promise<unknown> => options.request("server/discover", params, question);
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
