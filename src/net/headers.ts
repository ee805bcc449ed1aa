// Headers on their way out and in: what may be sent, to whom, and how what came back is kept.

import { PlugboardError } from "../model/errors.ts";

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Tab, printable ASCII and Latin-1: no line ends, so a value cannot become another header. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** They frame the message or belong to the connection: letting a caller set them is how requests get smuggled. */
const OWN = new Set([
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

/** Credentials by definition, wherever the caller put them. */
const CREDENTIALS = ["authorization", "cookie"];

export interface OutgoingHeaders {
  /** With the private ones: for the first origin. */
  own: Record<string, string>;
  /** For every other origin. */
  foreign: Record<string, string>;
}

/** Throws INVALID_ARGUMENTS, without repeating a value: it may be a secret. */
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
    if (!NAME.test(name)) throw invalid(`${JSON.stringify(given)} is not a header's name`);
    if (OWN.has(name)) throw invalid(`the header ${given} is Plugboard's own to set`);
    if (!VALUE.test(value)) {
      throw invalid(`the value of the header ${given} has characters that no header may have`);
    }
    result[name] = value;
  }
  return result;
}

function invalid(message: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: 'Check "headers" of this server.',
    permanent: true,
  });
}

/** From name, value, name, value …; repeated names are joined as HTTP says. */
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
