// Explains why a connection failed, by the code of the underlying error.

import { type ErrorCode, PlugboardError } from "../types/errors.ts";
import { errorCode } from "../../util/error-code.ts";

interface Explanation {
  /** Follows the host's name in a sentence. */
  text: string;
  hint?: string;
  /** The hint names settings that an MCP server has. */
  isHintForServer?: true;
  code?: ErrorCode;
  /** It happened while connecting: with a proxy in between, the proxy is the one that failed. */
  connecting?: true;
}

const PROXY_HINT = "check HTTPS_PROXY, the proxy's credentials, and NO_PROXY";

const UNKNOWN_CA: Explanation = {
  text: "has a certificate from an authority that this machine does not trust",
  hint: 'if it is your own authority, set "tls": { "ca": … } for this server, or NODE_EXTRA_CA_CERTS for all',
  isHintForServer: true,
};
const NO_NAME: Explanation = {
  text: "is a name that cannot be resolved",
  hint: "check the spelling, whether this machine is online, and whether it needs a proxy (HTTPS_PROXY)",
  connecting: true,
};
const NO_ROUTE: Explanation = { text: "cannot be reached from this machine", connecting: true };
const BROKEN: Explanation = { text: "ended the connection before its answer was complete" };
const NO_CERTIFICATE: Explanation = {
  text: "does not accept the client certificate, or requires one",
  hint: 'set "tls": { "cert": …, "key": … } for this server',
  isHintForServer: true,
};
const SLOW_CONNECT: Explanation = {
  text: "took too long to connect",
  code: "TIMEOUT",
  connecting: true,
};
const NOT_HTTP: Explanation = { text: "did not answer in HTTP", code: "PROTOCOL" };
const BAD_ENCODING: Explanation = { text: "sent a body that cannot be decoded", code: "PROTOCOL" };

const BY_CODE: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  ENODATA: NO_NAME,
  ECONNREFUSED: {
    text: "refused the connection",
    hint: "check the port, and whether the server is running",
    connecting: true,
  },
  ENETUNREACH: NO_ROUTE,
  EHOSTUNREACH: NO_ROUTE,
  EADDRNOTAVAIL: NO_ROUTE,
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UND_ERR_SOCKET: BROKEN,
  ERR_STREAM_PREMATURE_CLOSE: BROKEN,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: BROKEN,
  Z_BUF_ERROR: { text: "ended a compressed body before its end" },
  Z_DATA_ERROR: BAD_ENCODING,
  ETIMEDOUT: SLOW_CONNECT,
  UND_ERR_CONNECT_TIMEOUT: SLOW_CONNECT,
  UND_ERR_HEADERS_OVERFLOW: {
    text: "sent more headers than are accepted",
    code: "MESSAGE_TOO_LARGE",
  },
  // Nothing was aborted on this side, so the proxy refused to open the tunnel.
  UND_ERR_ABORTED: {
    text: "cannot be reached: the proxy did not connect to it",
    hint: PROXY_HINT,
  },
  UND_ERR_PRX_TLS: { text: "cannot be reached: the proxy's certificate is not valid" },
  CERT_HAS_EXPIRED: {
    text: "has a certificate that has expired",
    hint: "its operator must renew it; check the clock of this machine too",
  },
  CERT_NOT_YET_VALID: {
    text: "has a certificate that is not valid yet",
    hint: "check the clock of this machine",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    text: "has a certificate for another name",
    hint: "use the name in the certificate",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    text: "has a certificate that it signed itself",
    hint: 'to trust it, set "tls": { "ca": … } for this server',
    isHintForServer: true,
  },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  ERR_SSL_WRONG_VERSION_NUMBER: { text: "does not speak TLS on that port" },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: { text: "does not speak TLS on that port" },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: NO_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: NO_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: NO_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: NO_CERTIFICATE,
};

/**
 * `proxy` is the host of the proxy in between. A PlugboardError is returned unchanged, because the address rules
 * throw theirs through the connection.
 */
export function networkFailure(error: unknown, host: string, proxy?: string): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const code = errorCode(error);
  const { text, hint, ...facts } = isParserError(error) ? NOT_HTTP : explain(code);
  const viaProxy = proxy !== undefined && facts.connecting === true;
  const who = viaProxy ? `${host} cannot be reached: the proxy ${proxy}` : host;
  const known = code === undefined ? "" : ` (${code})`;
  return new PlugboardError(facts.code ?? "NETWORK", `${who} ${text}${known}`, {
    cause: error,
    hint: viaProxy && hint !== undefined ? PROXY_HINT : hint,
    isHintForServer: facts.isHintForServer ?? false,
    hasNotRun: isBeforeRequest(error, code),
  });
}

/** Nothing of a request is sent before there is a connection. */
const BEFORE_REQUEST =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT)/;

/** The other codes also mean connections that broke later; `syscall` says when it was the connecting. */
function isBeforeRequest(error: unknown, code = ""): boolean {
  if (BEFORE_REQUEST.test(code)) return true;
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return (
    parts.length > 0 &&
    parts.every((each) => each instanceof Error && "syscall" in each && each.syscall === "connect")
  );
}

function explain(code = ""): Explanation {
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (code.startsWith("ERR_SSL_")) return { text: "could not agree on a secure connection" };
  if (code.startsWith("ERR__ERROR_FORMAT") || code.startsWith("ERR_BROTLI")) return BAD_ENCODING;
  return { text: "cannot be reached" };
}

/** The HTTP client's error for a response that is not HTTP; it often has no code. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === "HTTPParserError";
}
