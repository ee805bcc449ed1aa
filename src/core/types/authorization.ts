// Signing in to remote servers: the settings, the callback that involves a person, and the port through which
// a transport gets its tokens.

/** Asks you to send a person to `url`, so that they sign in to a server. */
export interface AuthorizationRequest {
  server: string;
  /** The page to open in a browser: https, or http on this machine. */
  url: string;
  /** Where the browser is sent afterwards. If that is on this machine, Plugboard listens there. */
  redirectUri: string;
  /** The requested scopes, separated by spaces. */
  scope?: string;
  /** Aborts when the answer no longer matters. */
  signal: AbortSignal;
}

/**
 * Shows the URL to a person. If Plugboard cannot listen at `redirectUri`, resolve to the URL that the browser
 * was sent to. If you reject, the sign-in is refused.
 */
export type OnAuthorization = (
  request: AuthorizationRequest,
) => void | string | Promise<void | string>;

/** Who is asked for one sign-in. */
export interface SignInRequest {
  /** Takes the place of the board's own for this sign-in. */
  onAuthorization?: OnAuthorization;
  /** Aborting it ends the wait for the person; the sign-in rejects with CANCELLED. */
  signal?: AbortSignal;
}

export interface Challenge {
  /** 401, or 403 if the token lacks a scope. */
  status: number;
  /** The `WWW-Authenticate` header. */
  header: string | undefined;
}

export interface Authorizer {
  /**
   * The bearer token to send, if there is one. Renews an expired token first. Rejects where nothing may be sent without
   * one.
   */
  token(): Promise<string | undefined>;
  /**
   * Call this when the server has refused the token `used`. Resolves when there is a new token to try. Rejects
   * with NEEDS_AUTH, or with the error that prevented the renewal.
   */
  renew(challenge: Challenge, used: string | undefined): Promise<void>;
}

/** A JWT with which somebody has come. It never goes to an MCP server. */
export interface SubjectToken {
  text: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** The `oauth` settings of a server. Values may contain `${VAR}`. */
export interface OAuthSettings {
  /**
   * `authorization_code`, the default: a person signs in. `client_credentials`: this machine does. `token_exchange`: the JWT
   * of each caller of a gateway is exchanged for a token.
   */
  grant?: "authorization_code" | "client_credentials" | "token_exchange";
  /** `user`: each caller of a gateway signs in for themselves. Absent: one sign-in for all of them. */
  per?: "user";
  /** The id of a client that you registered with the authorization server. */
  clientId?: string;
  clientSecret?: string;
  /** PEM text, or the path of a PEM file. Signs a JWT that is sent instead of a client secret. */
  privateKey?: string;
  /** The signing algorithm of `privateKey`. Default ES256. */
  algorithm?: string;
  /** An https URL that describes this client, for servers that support client metadata documents. */
  clientMetadataUrl?: string;
  /** Scopes to request, separated by spaces, in addition to those the server asks for. */
  scope?: string;
  /** The only authorization server that may be used. */
  issuer?: string;
  /** Where JWTs are exchanged, if the metadata of `issuer` does not say. */
  tokenEndpoint?: string;
  /** Whom an exchanged token is for, by the name that the authorization server has for the MCP server. */
  audience?: string;
  /** The same as a URL. Default: the server's, unless there is an `audience`. */
  resource?: string;
  /** What a caller's JWT is. Default `access_token`. */
  subjectTokenType?: ExchangedTokenType | "id_token";
  /** What is asked for. Default `access_token`. */
  requestedTokenType?: ExchangedTokenType;
  /** How the client shows its secret when it exchanges. Default: what the authorization server takes, else `basic`. */
  clientAuth?: "basic" | "post";
  /** Where the browser is sent after the sign-in. Default: a free port on 127.0.0.1. */
  redirectUri?: string;
}

/** The types of RFC 8693 that can be sent to a server, by the last word of their names. */
type ExchangedTokenType = "access_token" | "jwt";

/** The command that signs in to a server, given by its name or its URL. */
export function signInHint(server: string): string {
  return `run: plugboard login ${/^[\w.:/-]+$/.test(server) ? server : JSON.stringify(server)}`;
}

/** `revoked`: the authorization server was told. `forgotten`: it was not. `none`: there was no login. */
export type SignOutOutcome = "none" | "forgotten" | "revoked";

export function describeSignOut(server: string, outcome: SignOutOutcome): string {
  switch (outcome) {
    case "none":
      return `you are not signed in to ${server}`;
    case "forgotten":
      return `signed out of ${server}: its tokens are deleted here, but could not be revoked at the authorization server`;
    case "revoked":
      return `signed out of ${server}: its tokens are revoked and deleted`;
  }
}
