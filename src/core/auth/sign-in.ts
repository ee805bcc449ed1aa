// Lets a person sign in: the authorization-code grant with PKCE, from the URL that they open to the tokens.

import { randomBytes } from "node:crypto";
import {
  exchangeAuthorization,
  type OAuthTokens,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { OnAuthorization } from "../types/authorization.ts";
import { PlugboardError } from "../types/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import { type ClientOptions, lastRedirectUri, type OAuthClient, signInClient } from "./client.ts";
import { listenForRedirect, type RedirectListener } from "./redirect-listener.ts";
import { signInError } from "./sign-in-error.ts";

/** How long a person may take to sign in. */
const PATIENCE_MS = 5 * 60_000;

export interface SignInContext extends ClientOptions {
  /** Throws for a URL that must not be opened in a browser. */
  checkUrl: (url: URL) => void;
}

export interface SignInOptions extends SignInContext {
  scope: string | undefined;
  onAuthorization: OnAuthorization;
  clock: Clock;
  signal: AbortSignal;
}

/** A sign-in that has begun, for whoever ends it: here or in another process. The verifier is a secret. */
export interface BegunSignIn {
  issuer: string;
  redirectUri: string;
  state: string;
  codeVerifier: string;
  scope?: string | undefined;
}

export async function signIn(options: SignInOptions): Promise<OAuthTokens> {
  const { settings, discovery, store } = options;
  const fixed = settings.redirectUri;
  const listener = await listenForRedirect(
    fixed ?? (await lastRedirectUri(discovery, store)),
    fixed !== undefined,
  );
  try {
    return await authorize(options, listener, listener?.redirectUri ?? fixed ?? "");
  } finally {
    await listener?.close();
  }
}

async function authorize(
  options: SignInOptions,
  listener: RedirectListener | undefined,
  redirectUri: string,
): Promise<OAuthTokens> {
  const state = randomBytes(24).toString("base64url");
  const client = await signInClient(options, redirectUri);
  const given = { redirectUri, state, scope: options.scope };
  const { url, begun } = await beginSignIn(options, given, client);
  const answer = await ask(options, listener, { url, redirectUri, state });
  return finishSignIn(options, begun, answer, client);
}

/** Where the browser goes. */
export async function beginSignIn(
  options: SignInContext,
  { redirectUri, state, scope }: Pick<BegunSignIn, "redirectUri" | "state" | "scope">,
  client: OAuthClient,
): Promise<{ url: string; begun: BegunSignIn }> {
  const { server, discovery } = options;
  const { metadata, authorizationServer, resource, issuer } = discovery;
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
    metadata,
    clientInformation: client.information,
    resource,
    redirectUrl: redirectUri,
    state,
    scope,
  }).catch((error: unknown) => {
    throw signInError(server, `${issuer} cannot be used`, error);
  });
  checkAuthorizationUrl(options, authorizationUrl);
  return {
    url: authorizationUrl.href,
    begun: { issuer, redirectUri, state, codeVerifier, scope },
  };
}

/** `answer` is what the browser came back with. */
export async function finishSignIn(
  options: SignInContext,
  begun: BegunSignIn,
  answer: URLSearchParams,
  client: OAuthClient,
): Promise<OAuthTokens> {
  const { server, discovery, fetch } = options;
  const { metadata, authorizationServer, resource, issuer } = discovery;
  const { state, codeVerifier, redirectUri } = begun;
  if (issuer !== begun.issuer) {
    throw signInError(server, "it names another authorization server than when you began");
  }
  const code = readAnswer(options, answer, state);
  try {
    return await exchangeAuthorization(authorizationServer, {
      metadata,
      clientInformation: client.information,
      resource,
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      iss: answer.get("iss") ?? undefined,
      addClientAuthentication: client.authenticate,
      fetchFn: fetch,
    });
  } catch (error) {
    throw signInError(server, `${issuer} gave no token`, error);
  }
}

/** The authorization server chose this URL: it must not be `javascript:`, nor lead into a private network. */
function checkAuthorizationUrl({ server, checkUrl }: SignInContext, url: URL): void {
  try {
    checkUrl(url);
  } catch (error) {
    const what = `its sign-in page ${oneLine(url.href, 100)} must not be opened`;
    const message = errorMessage(error);
    throw signInError(server, `${what} (${message})`);
  }
}

async function ask(
  { server, scope, onAuthorization, clock, signal }: SignInOptions,
  listener: RedirectListener | undefined,
  { url, redirectUri, state }: { url: string; redirectUri: string; state: string },
): Promise<URLSearchParams> {
  const over = new AbortController();
  const late = clock.after(PATIENCE_MS, () => over.abort());
  const waiting = AbortSignal.any([signal, over.signal]);
  const redirected = listener?.redirected(state);
  const show = async (): Promise<URLSearchParams> => {
    const returned = await onAuthorization({ server, url, redirectUri, signal: waiting, scope });
    if (typeof returned === "string") return returnedParams(server, returned);
    return (
      redirected ??
      Promise.reject(
        signInError(server, "the address that the browser was redirected to is missing"),
      )
    );
  };
  const shown = show().catch((error: unknown) => {
    throw signInError(server, "it was refused here", error);
  });
  const answers = redirected === undefined ? [shown] : [shown, redirected];
  try {
    return await untilAborted(Promise.race(answers), waiting, () =>
      signal.aborted
        ? new PlugboardError("CANCELLED", "the sign-in was cancelled")
        : signInError(server, "nobody signed in within five minutes"),
    );
  } finally {
    late.cancel();
    shown.catch(() => {});
    over.abort();
  }
}

function returnedParams(server: string, url: string): URLSearchParams {
  if (URL.canParse(url)) return new URL(url).searchParams;
  throw signInError(server, "the address that the browser was redirected to is not a URL");
}

/** Checks that the answer belongs to this sign-in before it reads anything else. */
function readAnswer(
  { server, discovery: { metadata } }: SignInContext,
  answer: URLSearchParams,
  state: string,
): string {
  if (answer.get("state") !== state)
    throw signInError(server, "the answer belongs to another sign-in");
  try {
    validateAuthorizationResponseIssuer({
      iss: answer.get("iss") ?? undefined,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
  } catch (error) {
    throw signInError(server, "the answer comes from another authorization server", error);
  }
  const error = answer.get("error");
  if (error !== null) {
    const description = answer.get("error_description");
    const why = description === null ? error : `${description} (${error})`;
    throw signInError(server, `the authorization server refused: ${oneLine(why, 300)}`);
  }
  const code = answer.get("code");
  if (code === null) throw signInError(server, "the answer has no code");
  return code;
}
