// Opens the authorizer of one server, with a network connection of its own to the authorization server.

import { ServerAuthorizer } from "../auth/authorizer.ts";
import { requestChallenge } from "../auth/challenge.ts";
import { oauthFetch } from "../auth/oauth-fetch.ts";
import { authStore } from "../auth/store.ts";
import type { Challenge } from "../types/authorization.ts";
import { loggerFor } from "../types/logger.ts";
import { isRemote, type RemoteTarget } from "../types/server-definition.ts";
import { targetFetch, targetPolicy } from "../net/target-fetch.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import { addressRules } from "../net/policy.ts";
import type { ServerSignInOptions } from "./sign-in.ts";

export interface AuthorizerParts {
  authorizer: ServerAuthorizer;
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
  } = options;
  const { url, oauth, tls } = target;
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
    latestSettings: async (isRefused) => {
      const known = await options.resolve();
      const latest = (isRefused && (await known.renew?.())) || known;
      return (isRemote(latest.target) && latest.target.oauth) || {};
    },
    store: authStore(grants, onSecrets),
    fetch: oauthFetch(fetch, rules, from, signal),
    checkUrl: (page) => rules.checkUrl(page, from),
    onAuthorization,
    clock,
    logger: loggerFor(server, options.logger),
    signal,
  });
  return { authorizer, fetch };
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
