// Opens the authorizer of one server, with a network connection of its own to the authorization server.

import { ServerAuthorizer } from "../auth/authorizer.ts";
import { requestChallenge } from "../auth/challenge.ts";
import { oauthFetch } from "../auth/oauth-fetch.ts";
import { authStore } from "../auth/store.ts";
import type { Authorizer, Challenge, OAuthSettings } from "../types/authorization.ts";
import { loggerFor } from "../types/logger.ts";
import { isRemote, type RemoteTarget } from "../types/server-definition.ts";
import { targetFetch, targetPolicy } from "../net/target-fetch.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import { addressRules } from "../net/policy.ts";
import type { ServerSignInOptions } from "./sign-in.ts";

/** With the SDK, which most servers never need. */
const loadExchange = () => import("../auth/exchange-authorizer.ts");

export interface AuthorizerParts {
  authorizer: Authorizer & Pick<ServerAuthorizer, "hasNews" | "look">;
  /** The same, where people sign in. */
  forPeople?: ServerAuthorizer;
  fetch: GuardedFetch;
}

export async function openAuthorizer(
  target: RemoteTarget,
  options: ServerSignInOptions,
  signal: AbortSignal,
): Promise<AuthorizerParts> {
  const {
    server,
    signInAs,
    person,
    hint,
    grants,
    clock,
    networkAllow,
    isOfSession,
    onAuthorization,
    onSecrets,
    onChange,
  } = options;
  const { url, oauth, tls } = target;
  if (oauth && oauth.grant === "token_exchange")
    return openExchange(target, oauth, options, signal);
  // The client certificate is only for the server itself, not for the authorization server.
  const fetch = await targetFetch(
    { ...target, tls: tls?.ca ? { ca: tls.ca } : undefined },
    options,
  );
  const rules = addressRules(targetPolicy(target, networkAllow, isOfSession));
  const from = new URL(url);
  const authorizer = new ServerAuthorizer({
    server,
    person,
    hint,
    signInAs,
    serverUrl: url,
    settings: oauth || {},
    latestSettings: (isRefused) => latestSettings(options, isRefused),
    store: authStore(grants, onSecrets),
    fetch: oauthFetch(fetch, rules, from, signal),
    checkUrl: (page) => rules.checkUrl(page, from),
    onAuthorization,
    onChange,
    clock,
    logger: loggerFor(server, options.logger),
    signal,
  });
  return { authorizer, forPeople: authorizer, fetch };
}

/** For a server whose callers' JWTs are exchanged, at an address that the operator has named. */
async function openExchange(
  target: RemoteTarget,
  oauth: OAuthSettings,
  options: ServerSignInOptions,
  signal: AbortSignal,
): Promise<AuthorizerParts> {
  const { server, person, subjectToken, exchanges, networkAllow, onSecrets, clock } = options;
  const named = new URL(oauth.tokenEndpoint ?? oauth.issuer ?? target.url);
  // What plain http to the server gives away is not what callers come with.
  const { ca } = target.tls ?? {};
  const own = { ...target, allowInsecure: false, tls: ca ? { ca } : undefined };
  const allow = [...networkAllow, named.hostname];
  const fetch = await targetFetch(own, { ...options, networkAllow: allow });
  const rules = addressRules(targetPolicy(own, allow, false));
  const { ExchangeAuthorizer } = await loadExchange();
  const authorizer = new ExchangeAuthorizer({
    server,
    serverUrl: target.url,
    settings: oauth,
    latestSettings: (isRefused) => latestSettings(options, isRefused),
    person,
    subjectToken,
    memory: exchanges,
    fetch: oauthFetch(fetch, rules, named, signal),
    onSecrets,
    clock,
  });
  return { authorizer, fetch };
}

async function latestSettings(
  { resolve }: Pick<ServerSignInOptions, "resolve">,
  isRefused: boolean,
): Promise<OAuthSettings> {
  const known = await resolve();
  const latest = (isRefused && (await known.renew?.())) || known;
  return (isRemote(latest.target) && latest.target.oauth) || {};
}

/** Asks the server how to sign in, with the client certificate. */
export async function probeChallenge(
  target: RemoteTarget,
  options: ServerSignInOptions,
  signal: AbortSignal,
): Promise<Challenge> {
  const fetch = await targetFetch(target, options);
  try {
    return await requestChallenge(fetch, target.url, target.headers, signal);
  } finally {
    await fetch.close();
  }
}
