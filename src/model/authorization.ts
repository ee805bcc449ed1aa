// Who is calling: the port between a transport and what holds a server's tokens, what a person is asked,
// and what the configuration says about it.

/** Somebody has to sign in. */
export interface AuthorizationRequest {
  server: string;
  /** To be opened in a browser: https, or http on this machine. */
  url: string;
  /** Where the browser comes back to. Plugboard listens there if it is on this machine. */
  redirectUri: string;
  /** Space-separated, where any are asked for. */
  scope?: string;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/**
 * Shows the URL to a person. May resolve to the URL the browser came back to, where Plugboard does not
 * hear of that itself. A rejection refuses the sign-in.
 */
export type OnAuthorization = (
  request: AuthorizationRequest,
) => void | string | Promise<void | string>;

export interface Challenge {
  /** 401, or 403 where the token is not good enough. */
  status: number;
  /** `WWW-Authenticate`. */
  header: string | undefined;
}

export interface Authorizer {
  /** What to send as a bearer token, if there is any. One that has expired is renewed before. */
  token(): Promise<string | undefined>;
  /**
   * The server refused a request that was made with the token `used`. Resolves when there is another to
   * try; rejects with NEEDS_AUTH, or with what kept it from finding out.
   */
  renew(challenge: Challenge, used: string | undefined): Promise<void>;
}

/** `oauth` of a server, with `${VAR}` in place. */
export interface OAuthSettings {
  /** Who signs in: a person in a browser, or this machine by itself. Default `authorization_code`. */
  grant?: "authorization_code" | "client_credentials";
  /** A client that was registered beforehand. */
  clientId?: string;
  clientSecret?: string;
  /** PEM text, or the path of a file that holds it, to sign a JWT with instead of a secret. */
  privateKey?: string;
  /** Of the private key. Default ES256. */
  algorithm?: string;
  /** An https URL that describes this client, for servers that take such documents. */
  clientMetadataUrl?: string;
  /** Space-separated, beside what the server asks for. */
  scope?: string;
  /** The only authorization server that may be used. */
  issuer?: string;
  /** Default: a free port on 127.0.0.1. */
  redirectUri?: string;
}

export function signInHint(server: string): string {
  return `run: plugboard login ${/^[\w.-]+$/.test(server) ? server : JSON.stringify(server)}`;
}
