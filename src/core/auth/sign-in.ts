// Lets a person sign in: the authorization-code grant with PKCE, from the URL that they open to the tokens.

import { randomBytes } from "node:crypto";
import {
  exchangeAuthorization,
  type FetchLike,
  type OAuthTokens,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { OAuthSettings, OnAuthorization } from "../types/authorization.ts";
import { PlugboardError } from "../types/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import { lastRedirectUri, type LatestSettings, signInClient } from "./client.ts";
import { listenForRedirect, type RedirectListener } from "./redirect-listener.ts";
import { signInError } from "./sign-in-error.ts";
import type { AuthStore, Discovery } from "./store.ts";

/** How long a person may take to sign in. */
const PATIENCE_MS = 5 * 60_000;

export interface SignInOptions {
  server: string;
  settings: OAuthSettings;
  latestSettings?: LatestSettings | undefined;
  discovery: Discovery;
  scope: string | undefined;
  store: AuthStore;
  fetch: FetchLike;
  /** Throws for a URL that must not be opened in a browser. */
  checkUrl: (url: URL) => void;
  onAuthorization: OnAuthorization;
  clock: Clock;
  signal: AbortSignal;
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
  const { server, discovery, scope, fetch } = options;
  const { metadata, authorizationServer, resource } = discovery;
  const client = await signInClient(options, redirectUri);
  const state = randomBytes(24).toString("base64url");
  const known = { metadata, clientInformation: client.information, resource };
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
    ...known,
    redirectUrl: redirectUri,
    state,
    scope,
  }).catch((error: unknown) => {
    throw signInError(server, `${discovery.issuer} cannot be used`, error);
  });
  checkAuthorizationUrl(options, authorizationUrl);
  const answer = await ask(options, listener, { url: authorizationUrl.href, redirectUri, state });
  const code = readAnswer(options, answer, state);
  try {
    return await exchangeAuthorization(authorizationServer, {
      ...known,
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      iss: answer.get("iss") ?? undefined,
      addClientAuthentication: client.authenticate,
      fetchFn: fetch,
    });
  } catch (error) {
    throw signInError(server, `${discovery.issuer} gave no token`, error);
  }
}

/** The authorization server chose this URL: it must not be `javascript:`, nor lead into a private network. */
function checkAuthorizationUrl({ server, checkUrl }: SignInOptions, url: URL): void {
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
  { server, discovery: { metadata } }: SignInOptions,
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
