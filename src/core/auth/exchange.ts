// One exchange of a caller's JWT for a token for an MCP server (RFC 8693): what is asked, which answers are believed, and
// what a refusal means for the person who reads it.

import {
  type AuthorizationServerMetadata,
  discoverAuthorizationServerMetadata,
  type FetchLike,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import type { OAuthSettings, SubjectToken } from "../types/authorization.ts";
import { PlugboardError, toPlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../types/json.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import type { OAuthClient } from "./client.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPE = "urn:ietf:params:oauth:token-type:";
/** What a server takes as a bearer token. */
const USABLE: ReadonlySet<unknown> = new Set([`${TYPE}access_token`, `${TYPE}jwt`]);
/** What may stand in a header, of any length that a server takes. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
const ERROR_CODE = /^[\w.:/-]{1,80}$/;
const LONGEST_WORDS = 200;
/** How long a token is used if the answer does not say how long it is valid. */
const UNSAID_SECONDS = 300;
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Where tokens are exchanged. */
export interface ExchangeEndpoint {
  url: string;
  metadata?: AuthorizationServerMetadata;
}

export interface ExchangeOptions {
  server: string;
  serverUrl: string;
  settings: OAuthSettings;
  endpoint: ExchangeEndpoint;
  client: OAuthClient;
  fetch: FetchLike;
}

export interface ExchangedToken {
  text: string;
  /** How long it is valid from now on. */
  seconds: number;
}

/** `isRefused`: the authorization server has decided. Otherwise a later attempt may succeed. */
export class ExchangeFailure extends Error {
  readonly isRefused: boolean;
  /** The authorization server refuses the gateway's own credentials. */
  readonly isOfClient: boolean;
  /** The authorization server refuses the caller's JWT. */
  readonly isOfToken: boolean;
  readonly error: PlugboardError;

  constructor(error: PlugboardError, isRefused: boolean, code = "") {
    super(error.message);
    this.error = error;
    this.isRefused = isRefused;
    this.isOfClient = OF_CLIENT.has(code);
    this.isOfToken = OF_TOKEN.has(code);
  }
}

/**
 * The endpoint that the operator names, or that the metadata of the operator's issuer does. Never one that the MCP server
 * names: it would be sent everybody's JWTs. Rejects with ExchangeFailure.
 */
export async function findEndpoint(
  server: string,
  { tokenEndpoint, issuer = "" }: OAuthSettings,
  fetch: FetchLike,
): Promise<ExchangeEndpoint> {
  if (tokenEndpoint !== undefined) return { url: tokenEndpoint };
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch(
    (error: unknown) => {
      throw fault(server, "its metadata cannot be used", error);
    },
  );
  if (metadata?.token_endpoint === undefined) {
    const hint = "set oauth.tokenEndpoint";
    throw fault(server, `${issuer} does not say where it exchanges tokens`, undefined, hint);
  }
  return { url: metadata.token_endpoint, metadata };
}

/** Rejects with ExchangeFailure. */
export async function exchange(
  options: ExchangeOptions,
  subject: SubjectToken,
): Promise<ExchangedToken> {
  const { server, endpoint, fetch } = options;
  let status: number;
  let text: string;
  try {
    const { headers, body } = await requestFor(options, subject);
    const response = await fetch(endpoint.url, { method: "POST", headers, body });
    status = response.status;
    text = await response.text();
  } catch (error) {
    throw fault(server, "it does not answer", error);
  }
  const answer = tryParseJson(text);
  if (status === 200) return tokenIn(server, answer, subject);
  const code = isJsonObject(answer) ? answer["error"] : undefined;
  if (!REFUSALS.has(status) || typeof code !== "string" || !ERROR_CODE.test(code)) {
    throw fault(server, `it answers with HTTP ${status}`);
  }
  throw refusal(server, code, (answer as JsonObject)["error_description"]);
}

/**
 * Asks without anybody's token: whether the endpoint exchanges tokens, and takes the gateway for a client. Rejects with
 * ExchangeFailure.
 */
export async function tryEndpoint(options: ExchangeOptions): Promise<void> {
  try {
    await exchange(options, { text: "", expiresAt: 0 });
  } catch (error) {
    // This is the good answer: only the token is missing.
    if (!(error instanceof ExchangeFailure) || !error.isOfToken) throw error;
  }
}

async function requestFor(
  { settings, serverUrl, endpoint, client }: ExchangeOptions,
  subject: SubjectToken,
): Promise<{ headers: Headers; body: URLSearchParams }> {
  const { audience, scope, subjectTokenType = "access_token" } = settings;
  const { requestedTokenType = "access_token" } = settings;
  const resource = settings.resource ?? (audience === undefined ? serverUrl : undefined);
  const body = new URLSearchParams({
    grant_type: GRANT,
    subject_token: subject.text,
    subject_token_type: `${TYPE}${subjectTokenType}`,
    requested_token_type: `${TYPE}${requestedTokenType}`,
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(scope !== undefined && { scope }),
  });
  const headers = new Headers({
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
  });
  const { client_id: id, client_secret: secret } = client.information;
  if (client.authenticate !== undefined) {
    await client.authenticate(headers, body, endpoint.url, endpoint.metadata);
  } else if (secret !== undefined && authMethod(settings, endpoint, client) === "basic") {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`);
  } else {
    body.set("client_id", id);
    if (secret !== undefined) body.set("client_secret", secret);
  }
  return { headers, body };
}

function authMethod(
  { clientAuth }: OAuthSettings,
  { metadata }: ExchangeEndpoint,
  { information }: OAuthClient,
): "basic" | "post" {
  if (clientAuth !== undefined) return clientAuth;
  const supported = metadata?.token_endpoint_auth_methods_supported ?? [];
  const method = selectClientAuthMethod(information, supported);
  return method === "client_secret_basic" ? "basic" : "post";
}

/** RFC 6749, section 2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function tokenIn(server: string, answer: unknown, subject: SubjectToken): ExchangedToken {
  const unusable = (why: string): ExchangeFailure =>
    fault(server, `its answer is unusable: ${why}`);
  if (!isJsonObject(answer)) throw unusable("it is not a JSON object");
  const { access_token: text, token_type: type, issued_token_type: issued } = answer;
  if (typeof text !== "string" || !TOKEN.test(text)) throw unusable("it has no token for a header");
  // Else the caller's JWT would go to the MCP server.
  if (text === subject.text) throw unusable("it gives back the caller's own token");
  if (typeof type !== "string" || !/^(?:bearer|n_a)$/i.test(type)) {
    throw unusable("the token is no bearer token");
  }
  if (!USABLE.has(issued)) throw unusable("the token is of another type (issued_token_type)");
  const { expires_in: said = UNSAID_SECONDS } = answer;
  const seconds = Number(said);
  return { text, seconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 0 };
}

/** Codes that are about the gateway, and not about the person. */
const OF_CLIENT: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client"]);
const OF_TOKEN: ReadonlySet<string> = new Set(["invalid_grant", "invalid_request"]);

function refusal(server: string, code: string, description: unknown): ExchangeFailure {
  const words = typeof description === "string" ? oneLine(description, LONGEST_WORDS) : "";
  const said = words === "" ? code : `${code} (${words})`;
  const [what, hint] = OF_CLIENT.has(code)
    ? [
        `the gateway may not exchange tokens for '${server}'`,
        "whoever runs the gateway checks oauth.clientId, its secret, and what that client may do",
      ]
    : code === "unsupported_grant_type"
      ? [
          `tokens for '${server}' cannot be had`,
          "whoever runs the gateway has the authorization server exchange tokens, or lets people sign in (oauth.per)",
        ]
      : OF_TOKEN.has(code)
        ? [
            `your token is not taken for '${server}'`,
            "sign in to your client again; if that does not help, whoever runs the gateway checks that the authorization server takes its callers' tokens",
          ]
        : [
            `your account may not use '${server}'`,
            "ask for access, or whoever runs the gateway checks oauth.audience, oauth.resource and oauth.scope",
          ];
  const message = `${what}: the authorization server said ${said}`;
  const details = { server, status: 401, permanent: true, quote: said, hint };
  return new ExchangeFailure(new PlugboardError("NEEDS_AUTH", message, details), true, code);
}

/** The authorization server does not do what it should. A cause with a code in KEPT is passed on as it is: it says more. */
function fault(server: string, what: string, cause?: unknown, hint = TRY_LATER): ExchangeFailure {
  const known = cause === undefined ? undefined : toPlugboardError(cause, "NEEDS_AUTH");
  if (known !== undefined && KEPT.has(known.code)) return new ExchangeFailure(known, false);
  const why = cause === undefined ? "" : `: ${oneLine(errorMessage(cause), LONGEST_WORDS)}`;
  const message = `the authorization server of '${server}' gave no token: ${what}${why}`;
  const error = new PlugboardError("NEEDS_AUTH", message, { server, status: 401, cause, hint });
  return new ExchangeFailure(error, false);
}

const KEPT: ReadonlySet<string> = new Set([
  "REFUSED_ADDRESS",
  "UNRESOLVED_VALUE",
  "SECRET_UNAVAILABLE",
  "CANCELLED",
  "CONNECTION_CLOSED",
]);
const TRY_LATER =
  "try again later; if it stays so, whoever runs the gateway runs: plugboard doctor";
