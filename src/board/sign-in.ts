// Signs in to one server. Creates its authorizer on first use, with a network connection of its own to the
// authorization server. Loads that code on first use, since most servers need no sign-in.

import type { ServerAuthorizer } from "../auth/authorizer.ts";
import type { Authorizer, Challenge, OnAuthorization } from "../model/authorization.ts";
import { PlugboardError } from "../model/errors.ts";
import { type Logger, loggerFor } from "../model/logger.ts";
import type { RemoteEndpoint } from "../model/server-definition.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import type { Clock } from "../util/clock.ts";
import { hasOwnCredentials, isSameAddress } from "./matching-server.ts";

export interface ServerSignInOptions {
  server: string;
  /** The endpoint with its values filled in. */
  resolve: () => RemoteEndpoint;
  /** The login belongs to a matching server. It is only used while both have the same URL. */
  isOfMatchingServer: boolean;
  stateDir: string | undefined;
  networkAllow: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  onAuthorization: OnAuthorization | undefined;
  clock: Clock;
  logger: Logger;
  /** Called with every token and client secret, so that they can be redacted. */
  onSecret: (secret: string) => void;
}

interface AuthorizerParts {
  authorizer: ServerAuthorizer;
  fetch: GuardedFetch;
}

export class ServerSignIn {
  readonly #options: ServerSignInOptions;
  readonly #closing = new AbortController();
  #current: { url: string; made: Promise<AuthorizerParts> } | undefined;

  constructor(options: ServerSignInOptions) {
    this.#options = options;
  }

  /** Undefined if the configuration has credentials in headers, or `oauth: false`. */
  async authorizer(endpoint: RemoteEndpoint): Promise<Authorizer | undefined> {
    if (endpoint.oauth === false || hasOwnCredentials(endpoint)) return undefined;
    if (!this.#options.isOfMatchingServer) return (await this.#make(endpoint)).authorizer;
    const configured = this.#options.resolve();
    // The configured URL may contain a variable whose value has changed.
    if (!isSameAddress(endpoint.url, configured.url)) return undefined;
    return (await this.#make(configured)).authorizer;
  }

  /** Whether you have signed in elsewhere and the server has not been tried since. Does not reject. */
  async hasUntriedLogin(): Promise<boolean> {
    try {
      return (await (await this.#current?.made)?.authorizer.hasNews()) ?? false;
    } catch {
      return false;
    }
  }

  async signIn(): Promise<void> {
    const endpoint = this.#signInEndpoint();
    const { authorizer } = await this.#make(endpoint);
    await authorizer.signIn(await this.#probe(endpoint));
  }

  async signOut(): Promise<"none" | "forgotten" | "revoked"> {
    return (await this.#make(this.#signInEndpoint())).authorizer.signOut();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await end(this.#current?.made);
  }

  /** Uses the client certificate, unlike the requests to the authorization server. */
  async #probe(endpoint: RemoteEndpoint): Promise<Challenge | undefined> {
    const [{ requestChallenge }, { endpointFetch }] = await Promise.all([
      import("../auth/challenge.ts"),
      import("../net/endpoint-fetch.ts"),
    ]);
    const fetch = await endpointFetch(endpoint, this.#options);
    try {
      return await requestChallenge(fetch, endpoint.url, endpoint.headers, this.#closing.signal);
    } finally {
      await fetch.close();
    }
  }

  #signInEndpoint(): RemoteEndpoint {
    const endpoint = this.#options.resolve();
    if (endpoint.oauth !== false && !hasOwnCredentials(endpoint)) return endpoint;
    const { server } = this.#options;
    const why = endpoint.oauth === false ? '"oauth" is false' : "its headers have credentials";
    throw new PlugboardError("UNSUPPORTED", `you cannot sign in to '${server}': ${why}`, {
      server,
      hint: "change its configuration first",
    });
  }

  /** All callers share one authorizer, so that tokens are renewed once. A new URL gets a new one. */
  #make(endpoint: RemoteEndpoint): Promise<AuthorizerParts> {
    const before = this.#current;
    if (before?.url === endpoint.url) return before.made;
    const made = end(before?.made).then(() => this.#create(endpoint));
    const current = { url: endpoint.url, made };
    this.#current = current;
    made.catch(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return made;
  }

  async #create(endpoint: RemoteEndpoint): Promise<AuthorizerParts> {
    const { server, stateDir, clock, networkAllow, onAuthorization, onSecret } = this.#options;
    const [{ ServerAuthorizer }, { openAuthStore }, { oauthFetch }, { addressRules }, network] =
      await Promise.all([
        import("../auth/authorizer.ts"),
        import("../auth/store.ts"),
        import("../auth/oauth-fetch.ts"),
        import("../net/policy.ts"),
        import("../net/endpoint-fetch.ts"),
      ]);
    const { url, oauth, tls } = endpoint;
    // The client certificate is only for the server itself, not for the authorization server.
    const withoutIdentity = { ...endpoint, ...(tls && { tls: { ...(tls.ca && { ca: tls.ca }) } }) };
    const fetch = await network.endpointFetch(withoutIdentity, this.#options);
    const rules = addressRules(network.endpointPolicy(endpoint, networkAllow));
    const from = new URL(url);
    const { signal } = this.#closing;
    const authorizer = new ServerAuthorizer({
      server,
      serverUrl: url,
      settings: oauth || {},
      store: openAuthStore(stateDir, clock, onSecret),
      fetch: oauthFetch(fetch, rules, from, signal),
      checkUrl: (target) => rules.checkUrl(target, from),
      onAuthorization,
      clock,
      logger: loggerFor(server, this.#options.logger),
      signal,
    });
    return { authorizer, fetch };
  }
}

async function end(made: Promise<AuthorizerParts> | undefined): Promise<void> {
  const ended = await made?.catch(() => undefined);
  await ended?.fetch.close();
}
