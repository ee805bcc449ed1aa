// Signing in to one server: makes its authorizer on first use, with a network of its own to the authorization
// server, and ends with the board.

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
  /** The login is a matching server's: it is used only while both have the same address. */
  isOfMatchingServer: boolean;
  stateDir: string | undefined;
  networkAllow: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  onAuthorization: OnAuthorization | undefined;
  clock: Clock;
  logger: Logger;
  /** Told every token and every client's secret, so that nothing repeats it. */
  onSecret: (secret: string) => void;
}

interface Made {
  authorizer: ServerAuthorizer;
  fetch: GuardedFetch;
}

export class ServerSignIn {
  readonly #options: ServerSignInOptions;
  readonly #over = new AbortController();
  #current: { url: string; made: Promise<Made> } | undefined;

  constructor(options: ServerSignInOptions) {
    this.#options = options;
  }

  /** Undefined where the configuration says who is calling, or that nobody is to sign in. */
  async authorizer(endpoint: RemoteEndpoint): Promise<Authorizer | undefined> {
    if (endpoint.oauth === false || hasOwnCredentials(endpoint)) return undefined;
    if (!this.#options.isOfMatchingServer) return (await this.#make(endpoint)).authorizer;
    const configured = this.#options.resolve();
    // Its address may have a variable in it, which has another value by now.
    if (!isSameAddress(endpoint.url, configured.url)) return undefined;
    return (await this.#make(configured)).authorizer;
  }

  /** Whether there is a login that has not been tried. Does not reject. */
  async hasNews(): Promise<boolean> {
    try {
      return (await (await this.#current?.made)?.authorizer.hasNews()) ?? false;
    } catch {
      return false;
    }
  }

  async signIn(): Promise<void> {
    const endpoint = this.#signable();
    const { authorizer } = await this.#make(endpoint);
    await authorizer.signIn(await this.#probe(endpoint));
  }

  async signOut(): Promise<"none" | "forgotten" | "revoked"> {
    return (await this.#make(this.#signable())).authorizer.signOut();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await end(this.#current?.made);
  }

  /** With the client certificate, unlike what goes to the authorization server. */
  async #probe(endpoint: RemoteEndpoint): Promise<Challenge | undefined> {
    const [{ probe }, { endpointFetch }] = await Promise.all([
      import("../auth/probe.ts"),
      import("../net/endpoint-fetch.ts"),
    ]);
    const fetch = await endpointFetch(endpoint, this.#options);
    try {
      return await probe(fetch, endpoint.url, endpoint.headers, this.#over.signal);
    } finally {
      await fetch.close();
    }
  }

  #signable(): RemoteEndpoint {
    const endpoint = this.#options.resolve();
    if (endpoint.oauth !== false && !hasOwnCredentials(endpoint)) return endpoint;
    const { server } = this.#options;
    const why = endpoint.oauth === false ? '"oauth" is false' : "its headers say who is calling";
    throw new PlugboardError("UNSUPPORTED", `'${server}' is not signed in to: ${why}`, {
      server,
      hint: "change its configuration first",
    });
  }

  /** One for all who ask, so that they renew its tokens once; another when the address has changed. */
  #make(endpoint: RemoteEndpoint): Promise<Made> {
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

  async #create(endpoint: RemoteEndpoint): Promise<Made> {
    const { server, stateDir, clock, networkAllow, onAuthorization, onSecret } = this.#options;
    const [{ ServerAuthorizer }, { openAuthStore }, { oauthFetch }, { addressRules }, network] =
      await Promise.all([
        import("../auth/authorizer.ts"),
        import("../auth/store.ts"),
        import("../auth/http.ts"),
        import("../net/policy.ts"),
        import("../net/endpoint-fetch.ts"),
      ]);
    const { url, oauth, tls } = endpoint;
    // The client certificate is for the server itself.
    const withoutIdentity = { ...endpoint, ...(tls && { tls: { ...(tls.ca && { ca: tls.ca }) } }) };
    const fetch = await network.endpointFetch(withoutIdentity, this.#options);
    const rules = addressRules(network.endpointPolicy(endpoint, networkAllow));
    const from = new URL(url);
    const { signal } = this.#over;
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

async function end(made: Promise<Made> | undefined): Promise<void> {
  const ended = await made?.catch(() => undefined);
  await ended?.fetch.close();
}
