// Opens the conversation in the server's protocol era. On stdio `initialize` goes first: every legacy server
// answers it, while some exit on the `server/discover` of 2026-07-28. A modern server refuses it, and then gets
// `server/discover`. Only a server that exits on `initialize` needs a second process, which is the supervisor's
// next attempt. Over HTTP `server/discover` goes first, and whatever is not a clear answer to it leads to
// `initialize`.

import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import type { ProtocolChoice } from "../../types/server-definition.ts";
import type { ProtocolEra } from "../../types/connection.ts";
import { oneLine } from "../../../util/text.ts";
import { escapedJson } from "../../../util/visible.ts";
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
  /**
   * What the server said about itself in its answer to `initialize` or `server/discover`: the parts that we know,
   * without what is malformed.
   */
  statement: JsonObject;
  /** The capabilities that it stated in a way that means nothing; they count as absent. */
  oddCapabilities: string[];
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
    case "SECRET_UNAVAILABLE":
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
    throw malformedAnswer("initialize");
  }
  const { protocolVersion } = result;
  if (!LEGACY_VERSIONS.includes(protocolVersion)) {
    throw unsupported([protocolVersion], "initialize", options.protocol);
  }
  const { capabilities, odd } = readCapabilities(result.capabilities);
  const serverInfo = toImplementation(result.serverInfo);
  const instructions = textOrNothing(result.instructions);
  return {
    era: "legacy",
    protocolVersion,
    statement: { protocolVersion, capabilities, serverInfo, instructions },
    oddCapabilities: odd,
  };
}

function malformedAnswer(method: string): PlugboardError {
  const message = `the server's answer to ${method} is malformed`;
  return new PlugboardError("HANDSHAKE_FAILED", message, {
    hint: "check that it is an MCP server, and update it",
  });
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
    throw malformedAnswer("server/discover");
  }
  if (!result.supportedVersions.includes(MODERN_VERSION)) {
    throw unsupported(result.supportedVersions, "server/discover", options.protocol);
  }
  const { capabilities, odd } = readCapabilities(result.capabilities);
  const instructions = textOrNothing(result.instructions);
  const info = isJsonObject(result._meta) ? result._meta[SERVER_INFO] : undefined;
  const supportedVersions = [MODERN_VERSION];
  return {
    era: "modern",
    protocolVersion: MODERN_VERSION,
    statement: {
      supportedVersions,
      capabilities,
      instructions,
      ...(isJsonObject(info) && { _meta: { [SERVER_INFO]: toImplementation(info) } }),
    },
    oddCapabilities: odd,
  };
}

/** How the server calls itself. Up to 2025-11-25 it must; later it may. */
export function infoOf({ era, statement }: Handshake): Implementation | undefined {
  if (era === "legacy") return toImplementation(statement.serverInfo);
  const info = isJsonObject(statement._meta) ? statement._meta[SERVER_INFO] : undefined;
  return info === undefined ? undefined : toImplementation(info);
}

const SERVER_INFO = "io.modelcontextprotocol/serverInfo";
const CAPABILITIES = ["tools", "resources", "prompts", "logging", "completions"] as const;

/** A capability is an object, empty or with switches. Nothing else in it is read, however deep it goes. */
function readCapabilities(stated: unknown): { capabilities: JsonObject; odd: string[] } {
  const capabilities: JsonObject = {};
  const odd: string[] = [];
  for (const name of CAPABILITIES) {
    const value = isJsonObject(stated) && Object.hasOwn(stated, name) ? stated[name] : undefined;
    if (isJsonObject(value)) {
      capabilities[name] = {
        ...(value.listChanged === true && { listChanged: true }),
        ...(value.subscribe === true && { subscribe: true }),
      };
    } else if (value !== undefined && value !== null && value !== false) {
      odd.push(name);
    }
  }
  return { capabilities, odd };
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function namesOurVersion(error: unknown): boolean {
  const wire = wireErrorOf(error);
  if (wire?.code !== UNSUPPORTED_VERSION || !isJsonObject(wire.data)) return false;
  return Array.isArray(wire.data.supported) && wire.data.supported.includes(MODERN_VERSION);
}

/** `offered` is what the server named in its answer to `method`. */
function unsupported(
  offered: readonly unknown[],
  method: "initialize" | "server/discover",
  protocol: ProtocolChoice,
): PlugboardError {
  const versions = offered.slice(0, 10).map((each) => String(each).slice(0, 100));
  // A space for the end of a line would hide a secret from whoever redacts the message.
  const shown = versions.map((each) => oneLine(each.replace(/\s*[\r\n]\s*/g, ""), 40));
  const known = shown.find((each) => each === MODERN_VERSION || LEGACY_VERSIONS.includes(each));
  const details = { permanent: true };
  if (known === undefined) {
    const message = `the server speaks protocol version ${shown.join(", ") || "none"}; Plugboard speaks ${MODERN_VERSION}, ${LEGACY_VERSIONS.join(", ")}`;
    return new PlugboardError("UNSUPPORTED_VERSION", message, details);
  }
  // We speak that version too. What is wrong is how it is written, or where it is named.
  if (!versions.includes(known)) {
    const written = escapedJson(versions[shown.indexOf(known)]);
    const message = `the server misspells its protocol version in its answer to ${method}: ${written} instead of "${known}"`;
    return new PlugboardError("UNSUPPORTED_VERSION", message, details);
  }
  const opening = method === "initialize" ? "server/discover" : "initialize";
  const message = `the server names protocol version ${known} in its answer to ${method}, but a conversation in that version begins with ${opening}`;
  const hint =
    protocol === "auto"
      ? "update the server, or report this to its author"
      : 'set "protocol" to "auto" for this server';
  return new PlugboardError("UNSUPPORTED_VERSION", message, { ...details, hint });
}

/** The SDK requires a name and a version, and some servers leave them out. */
function toImplementation(info: unknown): JsonObject & Implementation {
  const given = objectIn(info);
  return {
    name: typeof given.name === "string" ? given.name : "unnamed",
    version: typeof given.version === "string" ? given.version : "0",
  };
}
