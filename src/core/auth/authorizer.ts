// Holds one server's tokens: loads them, renews them once for all callers and processes, and asks a person to sign
// in when nothing else helps.

import type { OAuthTokens } from "@modelcontextprotocol/client";
import {
  type Authorizer,
  type Challenge,
  type OnAuthorization,
  type SignInRequest,
  signInHint,
  type SignOutOutcome,
} from "../types/authorization.ts";
import { PlugboardError } from "../types/errors.ts";
import type { Logger } from "../types/logger.ts";
import { parseChallenge, type ParsedChallenge } from "./challenge.ts";
import type { OAuthClient } from "./client.ts";
import type { NotRenewable } from "./grants.ts";
import type { BegunSignIn, SignInOptions } from "./sign-in.ts";
import { UnstoredGrant } from "./unstored-grant.ts";
import { clientKey, type Discovery, type Grant, grantKey, serverKey } from "./store.ts";

const loadFlows = () => import("./flows.ts");

/** A token this close to its expiry would expire before it arrives. */
const SLACK_MS = 10_000;

/** A server that publishes nothing about signing in probably expects a key. */
const TOKEN_HINT = 'give it a token in headers, such as { Authorization: "Bearer ${TOKEN}" }, or ';

export interface ServerAuthorizerOptions extends Omit<
  SignInOptions,
  "discovery" | "scope" | "onAuthorization" | "redirectUri"
> {
  /** Whose sign-in it is. Absent: the agent's own user's. */
  person?: string | undefined;
  /** What somebody has to do who is not signed in. Default: run `plugboard login`. */
  hint?: string | undefined;
  /** What `plugboard login` takes. Absent: the name of the server. */
  signInAs?: string | undefined;
  serverUrl: string;
  onAuthorization: OnAuthorization | undefined;
  /** Called when somebody has signed in or out, once that is stored. Does not reject. */
  onChange: () => Promise<void>;
  logger: Logger;
}

export class ServerAuthorizer implements Authorizer {
  readonly #options: ServerAuthorizerOptions;
  readonly #serverKey: string;
  #discovery: Discovery | undefined;
  #grant: Grant | undefined;
  /** Where the browser was sent after the sign-in, if that was not this machine. */
  #redirectUri: string | undefined;
  #loading: Promise<void> | undefined;
  #renewing: Promise<unknown> | undefined;
  /** How many requests wait for another token. */
  #waiting = 0;
  /**
   * The last sign-in of a person: the scope of the request, and the token. `untried` counts down from the number of
   * requests that waited for the token. A refusal before it is negative means that the token never worked.
   */
  #lastSignIn: { scope: string | undefined; token: string; untried: number } | undefined;
  /** After a sign-out nobody is asked to sign in again. */
  #signedOut = false;
  readonly #unstored: UnstoredGrant;

  constructor(options: ServerAuthorizerOptions) {
    this.#options = options;
    this.#unstored = new UnstoredGrant({
      ...options,
      again: () => void this.#storeAgain().catch(() => {}),
    });
    this.#serverKey = serverKey(options.serverUrl, options.person);
  }

  async token(): Promise<string | undefined> {
    await (this.#loading ?? this.#load());
    const grant = this.#grant;
    if (grant !== undefined && this.#isExpired(grant) && this.#discovery !== undefined) {
      const discovery = this.#discovery;
      // If that fails, the server will refuse the request, and its challenge says what to do.
      await this.#once(() => this.#renewSilently(discovery, grant)).catch(() => {});
    }
    const token = this.#grant?.tokens.access_token;
    if (token !== undefined && token === this.#lastSignIn?.token) this.#lastSignIn.untried -= 1;
    return token;
  }

  async renew(challenge: Challenge, used: string | undefined): Promise<void> {
    const current = this.#grant?.tokens.access_token;
    if (current !== undefined && current !== used) return;
    this.#waiting += 1;
    try {
      await this.#once(() => this.#answer(parseChallenge(challenge), used));
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Whether another process has stored a new token. The next request uses it. */
  async hasNews(): Promise<boolean> {
    const before = this.#grant?.tokens.access_token;
    await this.#load();
    const now = this.#grant?.tokens.access_token;
    return now !== undefined && now !== before;
  }

  /** Takes over what another process has stored or removed. True if somebody has signed out there. */
  async hasEnded(): Promise<boolean> {
    const [discovery, before] = [this.#discovery, this.#grant];
    if (discovery === undefined || before === undefined) return false;
    const stored = await this.#stored(this.#grantKey(discovery));
    if (this.#grant !== before) return false;
    this.#grant = stored;
    if (stored === undefined) this.#signedOut = true;
    return stored === undefined;
  }

  /** Asks a person to sign in, even if there is a token already. `answer` is the server's to a request without one. */
  async signIn(answer: Challenge, request: SignInRequest = {}): Promise<void> {
    await (this.#loading ?? this.#load());
    const isChallenge = answer.status === 401;
    const parsed = isChallenge ? parseChallenge(answer) : undefined;
    const known = await this.#options.store.read("server", this.#serverKey);
    this.#signedOut = false;
    const discovery = await this.#discover(parsed);
    if (!isChallenge && discovery.resource === undefined && !discovery.metadata) {
      throw noSignIn(this.#options, answer.status);
    }
    if (this.#options.settings.grant === "client_credentials") {
      await this.#useCredentials(discovery, parsed?.scope);
    } else {
      const { computeScopeUnion } = await loadFlows();
      const wanted = computeScopeUnion(parsed?.scope, known?.wantedScope);
      await this.#askPerson(discovery, wanted, this.#grant?.scope, 401, request);
    }
  }

  /** Finds out, without anybody, whether people can sign in, and where. `answer` is as for `signIn`. */
  async look(answer: Challenge): Promise<string> {
    const { settings, server } = this.#options;
    const isChallenge = answer.status === 401;
    const discovery = await this.#discover(isChallenge ? parseChallenge(answer) : undefined);
    const { metadata, issuer, resource } = discovery;
    if (!isChallenge && resource === undefined && !metadata) {
      throw noSignIn(this.#options, answer.status);
    }
    const { signInError } = await loadFlows();
    const reads = metadata?.client_id_metadata_document_supported === true;
    const hasClient = settings.clientId !== undefined || (reads && settings.clientMetadataUrl);
    if (!hasClient && metadata !== undefined && metadata.registration_endpoint === undefined) {
      const what = `${issuer} does not register clients automatically`;
      const hint = "register one there, and set oauth.clientId";
      throw signInError(server, what, undefined, hint);
    }
    return issuer;
  }

  /** Like `signIn`, for a person whose browser comes back to `redirectUri`, perhaps to another process. */
  async begin(
    answer: Challenge,
    { redirectUri, state }: { redirectUri: string; state: string },
  ): Promise<{ url: string; begun: BegunSignIn }> {
    await (this.#loading ?? this.#load());
    const parsed = answer.status === 401 ? parseChallenge(answer) : undefined;
    const { settings, store } = this.#options;
    const known = await store.read("server", this.#serverKey);
    const discovery = await this.#discover(parsed);
    if (parsed === undefined && discovery.resource === undefined && !discovery.metadata) {
      throw noSignIn(this.#options, answer.status);
    }
    const { beginSignIn, computeScopeUnion, scopeFor, signInClient } = await loadFlows();
    const wanted = computeScopeUnion(parsed?.scope, known?.wantedScope);
    const scope = scopeFor({ settings, discovery, wanted, granted: this.#grant?.scope });
    const context = { ...this.#options, discovery, redirectUri };
    // Several people may begin at once, and all of them are one client.
    const client = await store.withLease(clientKey(discovery, redirectUri), () =>
      signInClient(context, redirectUri),
    );
    return beginSignIn(context, { redirectUri, state, scope }, client);
  }

  /** Ends what `begin` has begun here or elsewhere. */
  async finish(begun: BegunSignIn, answer: URLSearchParams): Promise<void> {
    await this.#load();
    const discovery = this.#discovery ?? (await this.#discover(undefined));
    const { finishSignIn, signInClient, toGrant } = await loadFlows();
    const { redirectUri, scope } = begun;
    const context = { ...this.#options, discovery, redirectUri };
    const client = await signInClient(context, redirectUri);
    const tokens = await finishSignIn(context, begun, answer, client);
    this.#signedOut = false;
    this.#lastSignIn = { scope, token: tokens.access_token, untried: this.#waiting };
    this.#redirectUri = redirectUri;
    // Where its client is known first: a grant without it could not be renewed.
    await this.#options.store.write("server", this.#serverKey, { discovery, redirectUri });
    await this.#keep(discovery, toGrant(tokens, scope, this.#now()));
    await this.#options.onChange();
  }

  async signOut(): Promise<SignOutOutcome> {
    await this.#load();
    const discovery = this.#discovery;
    if (discovery === undefined || this.#grant === undefined) return "none";
    const { store } = this.#options;
    const { revoke } = await loadFlows();
    // Without the lease, whoever renews the tokens now would store the new ones after these were removed.
    return store.withLease(this.#grantKey(discovery), async () => {
      // Another process may have signed in or renewed the tokens.
      await this.#load();
      const grant = this.#grant;
      this.#grant = undefined;
      if (grant === undefined) return "none";
      this.#signedOut = true;
      this.#unstored.release();
      const client = await this.#client(discovery);
      const isRevoked =
        client !== undefined &&
        (await revoke({ discovery, client, fetch: this.#options.fetch }, grant).catch(() => false));
      await store.remove("grant", this.#grantKey(discovery));
      await store.remove("server", this.#serverKey);
      await this.#options.onChange();
      return isRevoked ? "revoked" : "forgotten";
    });
  }

  /** Reads what is stored, also if it was read before. After a failure, the next one who needs it tries again. */
  #load(): Promise<void> {
    const loading = this.#read();
    this.#loading = loading;
    loading.catch(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    return loading;
  }

  async #read(): Promise<void> {
    const known = await this.#options.store.read("server", this.#serverKey);
    if (known === undefined) return;
    this.#discovery = known.discovery;
    this.#redirectUri = known.redirectUri;
    this.#grant = await this.#stored(this.#grantKey(known.discovery));
  }

  /** What somebody else has stored since counts. */
  async #storeAgain(): Promise<void> {
    if (!(await this.#unstored.store())) await this.hasEnded();
  }

  /** The grant that counts: what is stored, or what could not be stored. */
  async #stored(key: string): Promise<Grant | undefined> {
    await this.#unstored.store().catch(() => {});
    return this.#unstored.of(key) ?? this.#options.store.read("grant", key);
  }

  /** Runs one renewal at a time; all callers get the result of the first. */
  #once(task: () => Promise<unknown>): Promise<unknown> {
    this.#renewing ??= task().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #answer(challenge: ParsedChallenge, used: string | undefined): Promise<void> {
    await (this.#loading ?? this.#load());
    const discovery = await this.#discover(challenge);
    if (this.#options.settings.grant === "client_credentials") {
      return this.#useCredentials(discovery, challenge.scope);
    }
    const { covers } = await loadFlows();
    const { insufficientScope, scope } = challenge;
    const granted = this.#grant?.scope;
    if (insufficientScope) {
      if (await this.#adopt(discovery, used, scope)) return;
      if (scope === undefined || covers(granted, scope)) {
        throw this.#needs(
          "the token was refused for its scope, and the server asks for no other scope",
          403,
        );
      }
      if (this.#lastSignIn !== undefined && covers(this.#lastSignIn.scope, scope)) {
        throw this.#needs(`the scope it requires (${scope}) was asked for and not granted`, 403);
      }
      return this.#askPerson(discovery, scope, granted, 403);
    }
    if (await this.#renewSilently(discovery, this.#grant, used)) return;
    const last = this.#lastSignIn;
    if (used !== undefined && used === last?.token && last.untried >= 0) {
      throw this.#needs("the server refuses the token of the sign-in just now", 401);
    }
    await this.#askPerson(discovery, scope, undefined);
  }

  async #discover(challenge: ParsedChallenge | undefined): Promise<Discovery> {
    const { server, serverUrl, fetch, settings, store, signal } = this.#options;
    const issuer = settings.issuer;
    const { discover } = await loadFlows();
    const discovery = await discover({ server, serverUrl, challenge, fetch, issuer });
    // Whoever ends waits for what is being stored, and not for what would be stored next.
    signal.throwIfAborted();
    if (discovery.issuer !== this.#discovery?.issuer) {
      // Tokens and clients belong to the issuer that gave them.
      this.#grant = await this.#stored(this.#grantKey(discovery));
    }
    this.#discovery = discovery;
    const known = await store.read("server", this.#serverKey);
    await store.write("server", this.#serverKey, { ...known, discovery });
    return discovery;
  }

  /** True if there is now a token other than `used`: renewed here or by another process. */
  async #renewSilently(
    discovery: Discovery,
    grant: Grant | undefined,
    used = grant?.tokens.access_token,
  ): Promise<boolean> {
    const { store, fetch, server, signal } = this.#options;
    const key = this.#grantKey(discovery);
    const { refresh, signInError, toGrant } = await loadFlows();
    signal.throwIfAborted();
    return store.withLease(key, async () => {
      if (await this.#adopt(discovery, used)) return true;
      const before = await store.read("grant", key);
      // Somebody has signed out in another process, perhaps where nobody revokes tokens: that must not be undone here.
      if (before === undefined && this.#unstored.of(key) === undefined) this.#grant = undefined;
      const refreshToken = this.#grant?.tokens.refresh_token;
      const client = await this.#client(discovery);
      if (refreshToken === undefined || client === undefined) return false;
      const renewWith = (by: OAuthClient): Promise<OAuthTokens | NotRenewable> =>
        refresh({ discovery, client: by, fetch }, refreshToken).catch((error: unknown) => {
          throw error instanceof PlugboardError
            ? error
            : signInError(server, "the token could not be renewed", error);
        });
      let renewed = await renewWith(client);
      if (renewed === "unknown client") {
        const other = await this.#otherClient(discovery, client);
        if (other !== undefined) renewed = await renewWith(other);
      }
      // A process that was stopped for long has lost its lease, and another one may have renewed the grant meanwhile.
      if (typeof renewed === "object") {
        const after = toGrant(renewed, this.#grant?.scope, this.#now());
        this.#grant = after;
        this.#unstored.hold({ key, before, grant: after });
        // The old refresh token works no more, so the new tokens count even while they cannot be stored.
        await this.#unstored
          .store()
          .then(async (isStored) => {
            if (isStored || (await this.#adopt(discovery, used))) return;
            await this.#keep(discovery, after);
          })
          .catch(() => {});
        return true;
      }
      if (!(await store.replaceGrant(key, before, undefined))) {
        return this.#adopt(discovery, used);
      }
      this.#options.logger.info(`the token cannot be renewed: ${renewed}`);
      // The authorization server no longer knows this registration, so the next sign-in would fail too.
      if (renewed === "unknown client") {
        await store.remove("client", clientKey(discovery, this.#redirectUri));
      }
      this.#grant = undefined;
      this.#unstored.release();
      return false;
    });
  }

  /** Takes over the stored grant. True if its token is new, valid, and covers the scope. */
  async #adopt(discovery: Discovery, used: string | undefined, scope?: string): Promise<boolean> {
    const stored = await this.#stored(this.#grantKey(discovery));
    if (stored === undefined) return false;
    this.#grant = stored;
    const { covers } = await loadFlows();
    const isNew = stored.tokens.access_token !== used && !this.#isExpired(stored);
    return isNew && covers(stored.scope, scope);
  }

  async #useCredentials(discovery: Discovery, wanted: string | undefined): Promise<void> {
    const { settings, server, fetch } = this.#options;
    const { clientCredentials, scopeFor, signInError, toGrant } = await loadFlows();
    const client = await this.#client(discovery);
    if (client === undefined) {
      throw signInError(server, "client credentials need oauth.clientId and a secret or a key");
    }
    const scope = scopeFor({ settings, discovery, wanted, granted: undefined });
    const tokens = await clientCredentials({ discovery, client, fetch }, scope)
      .catch(async (error: unknown) => {
        const other = await this.#otherClient(discovery, client);
        if (other === undefined) throw error;
        return clientCredentials({ discovery, client: other, fetch }, scope);
      })
      .catch((error: unknown) => {
        throw signInError(server, `${discovery.issuer} gave no token`, error);
      });
    // The tokens can be used even if they cannot be stored.
    await this.#keep(discovery, toGrant(tokens, scope, this.#now())).catch(() => {});
  }

  async #askPerson(
    discovery: Discovery,
    wanted: string | undefined,
    granted: string | undefined,
    status = 401,
    request: SignInRequest = {},
  ): Promise<void> {
    const { settings, store } = this.#options;
    const { onAuthorization = this.#options.onAuthorization } = request;
    const { computeScopeUnion, scopeFor, signIn, toGrant } = await loadFlows();
    const scope = scopeFor({ settings, discovery, wanted, granted });
    if (onAuthorization === undefined || this.#signedOut) {
      const known = await store.read("server", this.#serverKey);
      const wantedScope = computeScopeUnion(known?.wantedScope, scope);
      await store.write("server", this.#serverKey, { ...known, discovery, wantedScope });
      if (discovery.resource === undefined && discovery.metadata === undefined) {
        throw this.#needs("the server requires authentication", status, TOKEN_HINT);
      }
      const need = status === 403 ? `it requires another scope (${wanted})` : "sign-in required";
      throw this.#needs(need, status);
    }
    const signals = [this.#options.signal, ...(request.signal ? [request.signal] : [])];
    const signal = AbortSignal.any(signals);
    const tokens = await signIn({ ...this.#options, onAuthorization, discovery, scope, signal });
    this.#redirectUri = undefined;
    this.#lastSignIn = { scope, token: tokens.access_token, untried: this.#waiting };
    await this.#keep(discovery, toGrant(tokens, scope, this.#now()));
    await store.write("server", this.#serverKey, { discovery });
    await this.#options.onChange();
  }

  /** Rejects if it cannot be stored; it is used all the same. */
  async #keep(discovery: Discovery, grant: Grant): Promise<void> {
    const key = this.#grantKey(discovery);
    const before = await this.#options.store.read("grant", key).catch(() => undefined);
    this.#grant = grant;
    this.#unstored.hold({ key, before, grant });
    await this.#unstored.overwrite();
  }

  async #client(discovery: Discovery): Promise<OAuthClient | undefined> {
    const { knownClient } = await loadFlows();
    return knownClient({ ...this.#options, discovery, redirectUri: this.#redirectUri });
  }

  /** The client with its secret as it is now, if that is another one: the authorization server refuses `used`. */
  async #otherClient(discovery: Discovery, used: OAuthClient): Promise<OAuthClient | undefined> {
    const { knownClient } = await loadFlows();
    const redirectUri = this.#redirectUri;
    const latest = await knownClient({ ...this.#options, discovery, redirectUri }, true);
    const isOther = latest?.information.client_secret !== used.information.client_secret;
    return isOther ? latest : undefined;
  }

  #grantKey(discovery: Discovery): string {
    const { serverUrl, settings, person } = this.#options;
    return grantKey(discovery, serverUrl, settings.clientId, person);
  }

  #isExpired({ expiresAt }: Grant): boolean {
    return expiresAt !== undefined && expiresAt - SLACK_MS < this.#now();
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #needs(message: string, status: number, before = ""): PlugboardError {
    const { server, signInAs = server, hint: given = signInHint(signInAs) } = this.#options;
    const hint = `${before}${given}`;
    return new PlugboardError("NEEDS_AUTH", message, { server, status, permanent: true, hint });
  }
}

/** Why you cannot sign in to a server that publishes nothing about it and does not ask for it. */
function noSignIn(
  { server, serverUrl }: Pick<ServerAuthorizerOptions, "server" | "serverUrl">,
  status: number,
): PlugboardError {
  if (status === 404 || status === 405 || status === 410) {
    const where = new URL(serverUrl);
    return new PlugboardError(
      "HTTP_STATUS",
      `there is no MCP server at ${where.origin}${where.pathname} (HTTP ${status})`,
      { server, status, hint: 'check the path in "url"' },
    );
  }
  if (status === 403 || status >= 500) {
    const message = `'${server}' answers with HTTP ${status}, and does not say how to sign in`;
    const hint =
      status === 403
        ? "it refuses this machine or its credentials; ask its operator for access"
        : "the server has a fault; try again later";
    return new PlugboardError("HTTP_STATUS", message, { server, status, hint });
  }
  return new PlugboardError("UNSUPPORTED", `'${server}' does not require a sign-in`, {
    server,
    hint: "use it as it is",
  });
}
