// Checks outgoing headers, separates those for the first origin, and collects incoming ones.

import { PlugboardError } from "../types/errors.ts";

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Tab, printable ASCII and Latin-1. No line ends, so that a value cannot become another header. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** These frame the message or belong to the connection. A caller that could set them could smuggle requests. */
const RESERVED = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Always credentials, even among the public headers. */
const CREDENTIALS = ["authorization", "cookie"];

export interface OutgoingHeaders {
  /** For the first origin, with the private headers. */
  own: Record<string, string>;
  /** For every other origin. */
  foreign: Record<string, string>;
}

/** Throws INVALID_ARGUMENTS. The message never contains a value, which may be a secret. */
export function outgoingHeaders(
  headers: Record<string, string> = {},
  privateHeaders: Record<string, string> = {},
): OutgoingHeaders {
  const foreign: Record<string, string> = { "accept-encoding": "identity", ...checked(headers) };
  const own = { ...foreign, ...checked(privateHeaders) };
  for (const name of CREDENTIALS) delete foreign[name];
  return { own, foreign };
}

function checked(headers: Record<string, string>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!NAME.test(name)) throw invalid(`${JSON.stringify(given)} is not a valid header name`);
    if (RESERVED.has(name)) throw invalid(`the header ${given} is set by Plugboard itself`);
    if (!VALUE.test(value)) {
      throw invalid(
        `the value of the header ${given} has characters that are not allowed in headers`,
      );
    }
    result[name] = value;
  }
  return result;
}

function invalid(message: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: 'check "headers" of this server',
    isHintForServer: true,
    permanent: true,
  });
}

/** `raw` is name, value, name, value …. Repeated headers are joined with commas, as HTTP defines. */
export function incomingHeaders(raw: readonly string[]): Record<string, string> {
  const result = Object.create(null) as Record<string, string>;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    const value = raw[index + 1] ?? "";
    const before = result[name];
    result[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return result;
}
