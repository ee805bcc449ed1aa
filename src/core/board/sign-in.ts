// Signs in to one server: one authorizer for all its callers, made on first use.

import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  Authorizer,
  Challenge,
  OnAuthorization,
  SignInRequest,
  SignOutOutcome,
  SubjectToken,
} from "../types/authorization.ts";
import type { ServerAuthorizer } from "../auth/authorizer.ts";
import type { ExchangeMemory } from "../auth/exchange-authorizer.ts";
import type { BegunSignIn } from "../auth/sign-in.ts";
import type { OnSecrets } from "../auth/store.ts";
import { PlugboardError } from "../types/errors.ts";
import type { Logger } from "../types/logger.ts";
import type { RemoteTarget, ResolvedTarget } from "../types/server-definition.ts";
import type { GrantStore } from "../types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";
import { hasOwnCredentials, isSameAddress } from "./matching-server.ts";
import type { AuthorizerParts } from "./open-authorizer.ts";

export interface ServerSignInOptions {
  server: string;
  /** Whose sign-in it is. Absent: the agent's own user's. */
  person?: string | undefined;
  /** What somebody has to do who is not signed in. Default: run `plugboard login`. */
  hint?: string | undefined;
  /** What `plugboard login` takes. Absent: the name of the server. */
  signInAs?: string | undefined;
  /** The target with its values filled in. Rejects where one cannot be had. */
  resolve: () => Promise<ResolvedTarget<RemoteTarget>>;
  /** The login belongs to a matching server. It is only used while both have the same URL. */
  isOfMatchingServer: boolean;
  /** The JWT with which the person came last, which is exchanged. Absent: they came without one. */
  subjectToken?: (() => SubjectToken | undefined) | undefined;
  /** Where its tokens are kept. */
  grants: GrantStore;
  /** Called when somebody has signed in or out, once that is stored. Does not reject. */
  onChange: () => Promise<void>;
  /** Where those are kept that JWTs were exchanged for: in memory, for all boards of the agent. */
  exchanges: ExchangeMemory;
  networkAllow: readonly string[];
  /** A session brought the server, and no configured one matches it. */
  isOfSession: boolean;
  env: Readonly<Record<string, string | undefined>>;
  onAuthorization: OnAuthorization | undefined;
  clock: Clock;
  logger: Logger;
  /** Called with every token and client secret, so that they can be redacted. */
  onSecrets: OnSecrets;
}

/** Loaded when it is needed, since most servers never ask for a sign-in. */
const loadAuthorizer = () => import("./open-authorizer.ts");

export class ServerSignIn {
  readonly #options: ServerSignInOptions;
  readonly #closing = new AbortController();
  readonly #idle: () => Promise<void>;
  #current: { url: string; made: Promise<AuthorizerParts> } | undefined;

  constructor(options: ServerSignInOptions) {
    const { grants, idle } = followed(options.grants);
    this.#options = { ...options, grants };
    this.#idle = idle;
  }

  /** Undefined if the configuration has credentials in headers, or `oauth: false`. */
  async authorizer(target: RemoteTarget): Promise<Authorizer | undefined> {
    if (target.oauth === false || hasOwnCredentials(target)) return undefined;
    if (!this.#options.isOfMatchingServer) return (await this.#make(target)).authorizer;
    const { target: configured } = await this.#options.resolve();
    // The configured URL may contain a variable whose value has changed.
    if (!isSameAddress(target.url, configured.url)) return undefined;
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

  /** Whether you have signed out elsewhere. Its tokens are forgotten then. Does not reject. */
  async hasEnded(): Promise<boolean> {
    try {
      return (await (await this.#current?.made)?.forPeople?.hasEnded()) ?? false;
    } catch {
      return false;
    }
  }

  async signIn(request?: SignInRequest): Promise<void> {
    const target = await this.#signInTarget();
    const authorizer = await this.#forPeople(target);
    await authorizer.signIn(await this.#probe(target), request);
  }

  /** Begins a sign-in whose redirect somebody else takes. */
  async begin(back: {
    redirectUri: string;
    state: string;
  }): Promise<{ url: string; begun: BegunSignIn }> {
    const target = await this.#signInTarget();
    const authorizer = await this.#forPeople(target);
    return authorizer.begin(await this.#probe(target), back);
  }

  async finish(begun: BegunSignIn, answer: URLSearchParams): Promise<void> {
    const authorizer = await this.#forPeople(await this.#signInTarget());
    await authorizer.finish(begun, answer);
  }

  /** Where people sign in, or their tokens are exchanged; rejects if nobody could. Nobody is asked. */
  async look(): Promise<string> {
    const target = await this.#signInTarget();
    const { authorizer } = await this.#make(target);
    // Also where its answer is not needed: it shows that the server is there.
    return authorizer.look(await this.#probe(target));
  }

  async signOut(): Promise<SignOutOutcome> {
    return (await this.#forPeople(await this.#signInTarget())).signOut();
  }

  /** Resolves when nothing is stored any more: its directory may be removed then. */
  async close(): Promise<void> {
    this.#closing.abort();
    await end(this.#current?.made);
    await this.#idle();
  }

  /** What the server says to somebody who is not signed in. */
  async #probe(target: RemoteTarget): Promise<Challenge> {
    const { probeChallenge } = await loadAuthorizer();
    return probeChallenge(target, this.#options, this.#closing.signal);
  }

  async #signInTarget(): Promise<RemoteTarget> {
    const { target } = await this.#options.resolve();
    if (target.oauth !== false && !hasOwnCredentials(target)) return target;
    const { server } = this.#options;
    const why = target.oauth === false ? '"oauth" is false' : "its headers have credentials";
    throw new PlugboardError("UNSUPPORTED", `you cannot sign in to '${server}': ${why}`, {
      server,
      hint: "change its configuration first",
    });
  }

  /** Rejects with UNSUPPORTED where tokens are exchanged. */
  async #forPeople(target: RemoteTarget): Promise<ServerAuthorizer> {
    const { forPeople } = await this.#make(target);
    if (forPeople !== undefined) return forPeople;
    const { server } = this.#options;
    throw new PlugboardError("UNSUPPORTED", `nobody signs in to '${server}'`, {
      server,
      hint: 'it has "grant": "token_exchange": the JWTs of a gateway\'s callers are exchanged for its tokens',
    });
  }

  /** All callers share one authorizer, so that tokens are renewed once. A new URL gets a new one. */
  #make(target: RemoteTarget): Promise<AuthorizerParts> {
    const before = this.#current;
    if (before?.url === target.url) return before.made;
    const made = end(before?.made).then(async () =>
      (await loadAuthorizer()).openAuthorizer(target, this.#options, this.#closing.signal),
    );
    const current = { url: target.url, made };
    this.#current = current;
    made.catch(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return made;
  }
}

async function end(made: Promise<AuthorizerParts> | undefined): Promise<void> {
  const ended = await made?.catch(() => undefined);
  await ended?.fetch.close();
}

/** The same store, and when nothing is read or written there any more. Waiting for a lease does not count, since that may take a minute. */
function followed(grants: GrantStore): { grants: GrantStore; idle: () => Promise<void> } {
  const running = new Set<Promise<unknown>>();
  const follow = async <Result>(work: Promise<Result>): Promise<Result> => {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  };
  return {
    grants: {
      read: (kind, key) => follow(grants.read(kind, key)),
      write: (kind, key, value) => follow(grants.write(kind, key, value)),
      remove: (kind, key) => follow(grants.remove(kind, key)),
      replace: (kind, key, before, after) => follow(grants.replace(kind, key, before, after)),
      withLease: (key, task) => grants.withLease(key, () => follow(task())),
    },
    async idle() {
      while (running.size > 0) {
        await Promise.allSettled(running);
        // Whoever waited for it may store something next.
        await nextTurn();
      }
    },
  };
}
