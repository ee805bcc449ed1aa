// Sessions of clients up to 2025-11-25. The id is the session: its owner and the client's capabilities are sealed in
// it, so that a gateway that has been restarted, or another one with the same keys, goes on with it. Memory holds only
// requests and streams under way, and a session comes back with its next request.

import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { SessionStore } from "../../../core/types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import {
  type Caller,
  type CallerJwt,
  isSamePolicy,
  type TokenPolicy,
} from "../../../core/types/caller.ts";
import type { Client, ClientProfile } from "../client.ts";
import type { Endpoint } from "../endpoint.ts";
import { isLegacyVersion } from "../protocol.ts";
import type { Sealer } from "../sealed.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { Busy } from "./refusal.ts";
import type { Reply } from "./reply.ts";

/** Long, because a client that runs for weeks never initializes again by itself. */
export const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
const SWEEP_MS = 60_000;
const PURPOSE = "session";

export interface SessionsOptions {
  sealer: Sealer;
  store: Pick<SessionStore, "isRevoked" | "revoke" | "get" | "set"> &
    Partial<Pick<SessionStore, "onChange" | "move">>;
  /** The other gateways that the same clients may reach. */
  elsewhere?: Pick<Elsewhere, "home" | "tag"> | undefined;
  newId: () => string;
  clock: Clock;
  /** Milliseconds without a request after which a session is dropped from memory, and its own servers stop. */
  idleMs: number;
  /** How many sessions are kept in memory; beyond that, those that were idle for longest are dropped. */
  most: number;
  /** Whether a caller is no longer let in like this: its sessions, and their servers, end within a minute. */
  isGone?: (caller: string, session: Pick<Session, "policy" | "signedIn">) => boolean;
  /** Hears of every session that comes or goes. */
  onChange?: (change: SessionChange, session: Session) => void;
}

export type SessionChange =
  | "begun"
  /** Its client came back, after a restart or after it was idle. */
  | "resumed"
  /** It is no longer in memory, because nobody used it for a while. The next request resumes it. */
  | "idle"
  | "ended";

export interface Session {
  readonly nonce: string;
  readonly caller: string;
  readonly agent: string;
  readonly expiresAt: number;
  /** What the caller may do on the endpoint. */
  policy: TokenPolicy | undefined;
  /** Whom a provider has vouched for when the last request came, and when. */
  signedIn?: Sender["signedIn"];
  /** What the caller's JWT allows, where the endpoint has servers for which it is exchanged. */
  readonly rights: string | undefined;
  readonly client: Client;
  readonly endpoint: Endpoint;
  /** Gives the endpoint back. */
  readonly release: () => void;
  /** The stream on which the client hears of changes. */
  stream: Reply | undefined;
  lastUsed: number;
}

/** A session whose servers run in another gateway. */
export interface SessionElsewhere extends Pick<Session, "nonce" | "expiresAt" | "caller"> {
  home: string;
  /** Where it began. */
  began: string;
}

interface Sealed {
  agent: string;
  caller: string;
  profile: ClientProfile;
  expiresAt: number;
  nonce: string;
  /**
   * The gateway that runs the session's own servers, unless they have moved. Absent: it has none, and every gateway goes on
   * with it.
   */
  home?: string;
}

/** An endpoint for as long as somebody uses it. */
export interface UsedEndpoint {
  endpoint: Endpoint;
  /** The servers that are the session's own, if it has some. */
  ownServers?: readonly string[];
  release: () => void;
}

/** Who sends a request, and to which agent. A session of another sender is treated like one that does not exist. */
export interface Sender {
  caller: Caller;
  /** The agent's id. */
  agent: string;
  /** What the caller's token allows now. */
  policy?: TokenPolicy | undefined;
  /** When the caller's JWT ends, in milliseconds since the epoch. */
  expiresAt?: number | undefined;
  /** Whom a provider has vouched for with the caller's JWT, and when, in milliseconds since the epoch. */
  signedIn?: { as: string; at: number } | undefined;
  /** The caller's JWT, where the agent has servers for which it is exchanged. */
  jwt?: CallerJwt | undefined;
  /** Another gateway has forwarded the request, which must not go any further, and vouches for this hash of its body. */
  forwarded?: { body: string } | undefined;
  /** Counts further requests that came with one, in a batch. The milliseconds until the caller may make so many, or 0. */
  countMore?: ((requests: number) => number | Promise<number>) | undefined;
  /** Counts further requests that came with one as under way, until it is answered. Returns why they cannot be, if so. */
  holdMore?: ((requests: number) => Busy | undefined) | undefined;
  /** Counts the bytes of a large request. The milliseconds until the caller may send so many, or 0. */
  countBytes?: ((bytes: number) => number) | undefined;
  /** Gives the endpoint for a session, or for everybody who has none. */
  endpointFor: (session?: {
    nonce: string;
    profile: ClientProfile;
  }) => UsedEndpoint | Promise<UsedEndpoint>;
}

export class Sessions {
  readonly #options: SessionsOptions;
  /** By id. */
  readonly #live = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session | undefined>>();
  #sweeper: Timer;
  readonly #offStore: (() => void) | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#sweeper = this.#sweepLater();
    this.#offStore = options.elsewhere && options.store.onChange?.((nonce) => this.#noted(nonce));
  }

  get size(): number {
    return this.#live.size;
  }

  list(): readonly Session[] {
    return [...this.#live.values()];
  }

  /** Begins a session and returns the id that the client has to send. */
  async begin(sender: Sender, profile: ClientProfile): Promise<{ id: string; session: Session }> {
    const { sealer, newId, clock, elsewhere } = this.#options;
    const nonce = newId();
    const used = await sender.endpointFor({ nonce, profile });
    const sealed: Sealed = {
      agent: sender.agent,
      caller: sender.caller.id,
      profile,
      expiresAt: clock.now() + SESSION_MS,
      nonce,
      ...(elsewhere && used.ownServers && { home: elsewhere.home }),
    };
    const id = sealer.seal(PURPOSE, { ...sealed });
    const session = this.#open(id, sealed, sender, used);
    this.#options.onChange?.("begun", session);
    return { id, session };
  }

  /** Undefined if there is no such session for this sender: it has expired, was ended, or is not theirs. */
  find(
    id: string,
    sender: Sender,
  ): Session | SessionElsewhere | undefined | Promise<Session | SessionElsewhere | undefined> {
    const { store, clock } = this.#options;
    const session = this.#live.get(id);
    if (session === undefined) return this.#elsewhere(id, sender) ?? this.#restore(id, sender);
    const isTheirs = session.caller === sender.caller.id && session.agent === sender.agent;
    if (!isTheirs || session.expiresAt <= clock.now()) return undefined;
    if (store.isRevoked(session.nonce)) {
      this.#forget(id, session);
      return undefined;
    }
    // What the client has subscribed to is looked at again, with what its token allows by now.
    const isSame = isSamePolicy(session.policy, sender.policy);
    if (!isSame || session.rights !== sender.jwt?.rights) {
      this.#forget(id, session);
      return this.#restore(id, sender);
    }
    session.policy = sender.policy;
    session.signedIn = sender.signedIn;
    session.lastUsed = clock.monotonic();
    return session;
  }

  /** Ends a session for good. */
  async end(id: string, session: Session): Promise<void> {
    this.#forget(id, session);
    this.#options.onChange?.("ended", session);
    await this.#options.store.revoke(session.nonce, session.expiresAt, session.caller);
  }

  /**
   * Goes on here with a session whose home is gone: its own servers start anew. Resolves to where it is by now if another gateway
   * was first, and to undefined if it has ended or nobody can know.
   */
  async moveHere(
    id: string,
    { nonce, expiresAt, caller, home, began }: SessionElsewhere,
    sender: Sender,
  ): Promise<Session | SessionElsewhere | undefined> {
    const { store, elsewhere } = this.#options;
    if (elsewhere === undefined || store.move === undefined) return undefined;
    const move = { began, from: home, to: elsewhere.home };
    const now = await store.move(nonce, expiresAt, move, caller).catch(() => undefined);
    if (now === elsewhere.home) return this.#live.get(id) ?? this.#restore(id, sender);
    return now === undefined ? undefined : { nonce, expiresAt, caller, home: now, began };
  }

  /** Ends one whose home cannot be told so. */
  async endElsewhere({ nonce, expiresAt, caller }: SessionElsewhere): Promise<void> {
    await this.#options.store.revoke(nonce, expiresAt, caller);
  }

  /** Keeps what the client has set, for when the session comes back. */
  note({ nonce, expiresAt, client, caller }: Session): Promise<void> {
    const { logLevel, subscriptions } = client;
    const notes = { logLevel, subscriptions: [...subscriptions] };
    return this.#options.store.set(nonce, expiresAt, notes, caller);
  }

  /** Ends the streams on which clients hear of changes; they come back when there is a gateway again. */
  closeStreams(): void {
    for (const { stream } of this.#live.values()) stream?.close();
  }

  close(): void {
    this.#sweeper.cancel();
    this.#offStore?.();
    for (const [id, session] of this.#live) this.#forget(id, session);
  }

  async #restore(id: string, sender: Sender): Promise<Session | undefined> {
    // Two requests of one session right after a restart must find the same client.
    const opening = this.#opening.get(id) ?? this.#unseal(id, sender);
    this.#opening.set(id, opening);
    try {
      const session = await opening;
      const isTheirs = session?.caller === sender.caller.id && session.agent === sender.agent;
      return isTheirs ? session : undefined;
    } finally {
      this.#opening.delete(id);
    }
  }

  /** What is in an id that is still good for this sender. */
  #read(id: string, sender: Sender): Sealed | undefined {
    const { sealer, store, clock } = this.#options;
    const sealed = readSealed(sealer.open(PURPOSE, id));
    if (sealed === undefined || sealed.expiresAt <= clock.now()) return undefined;
    if (sealed.caller !== sender.caller.id || sealed.agent !== sender.agent) return undefined;
    return store.isRevoked(sealed.nonce) ? undefined : sealed;
  }

  #elsewhere(id: string, sender: Sender): SessionElsewhere | undefined {
    const { elsewhere, store } = this.#options;
    if (elsewhere === undefined) return undefined;
    const { home: began, nonce, expiresAt, caller } = this.#read(id, sender) ?? {};
    if (began === undefined || nonce === undefined) return undefined;
    if (expiresAt === undefined || caller === undefined) return undefined;
    const { home = began } = store.get(nonce) ?? {};
    return home === elsewhere.home ? undefined : { home, began, nonce, expiresAt, caller };
  }

  async #unseal(id: string, sender: Sender): Promise<Session | undefined> {
    const { store, elsewhere } = this.#options;
    const sealed = this.#read(id, sender);
    if (sealed === undefined) return undefined;
    const { nonce, profile, home } = sealed;
    // Without a home, it is only meant if something of it is under way here.
    if (sender.forwarded !== undefined && home === undefined) return undefined;
    // One without a home may be in several gateways at once, where it must not have servers of its own.
    const mayHaveOwn = elsewhere === undefined || home !== undefined;
    const used = await sender.endpointFor(mayHaveOwn ? { nonce, profile } : undefined);
    const session = this.#open(id, sealed, sender, used);
    const { logLevel, subscriptions = [] } = store.get(sealed.nonce) ?? {};
    session.endpoint.startAnew(used.ownServers ?? []);
    await session.endpoint.restore(session.client, logLevel, subscriptions);
    this.#options.onChange?.("resumed", session);
    return session;
  }

  /** Another gateway has ended the session, or its client has set something there. */
  #noted(nonce: string): void {
    for (const [id, session] of this.#live) {
      if (session.nonce !== nonce) continue;
      const { store, elsewhere } = this.#options;
      if (store.isRevoked(nonce)) return this.#forget(id, session);
      const { logLevel, subscriptions = [], home } = store.get(nonce) ?? {};
      // Another gateway took this one for gone, and has its servers now.
      if (home !== undefined && home !== elsewhere?.home) return this.#forget(id, session);
      void session.endpoint.follow(session.client, logLevel, subscriptions);
    }
  }

  #open(id: string, sealed: Sealed, sender: Sender, { endpoint, release }: UsedEndpoint): Session {
    const { profile, nonce, caller, agent, expiresAt } = sealed;
    const client = endpoint.connect({
      era: "legacy",
      caller: sender.caller,
      profile,
      send: (message) => session.stream?.send(message),
      canBeAsked: true,
      tag: this.#options.elsewhere?.tag,
    });
    const lastUsed = this.#options.clock.monotonic();
    const session: Session = {
      nonce,
      caller,
      agent,
      expiresAt,
      policy: sender.policy,
      signedIn: sender.signedIn,
      rights: sender.jwt?.rights,
      client,
      endpoint,
      release,
      stream: undefined,
      lastUsed,
    };
    this.#live.set(id, session);
    if (this.#live.size > this.#options.most) this.#makeRoom();
    return session;
  }

  #putAway(id: string, session: Session): void {
    this.#forget(id, session);
    this.#options.onChange?.("idle", session);
  }

  #forget(id: string, session: Session): void {
    this.#live.delete(id);
    session.stream?.close();
    void session.endpoint.disconnect(session.client);
    session.release();
  }

  #sweepLater(): Timer {
    return this.#options.clock.later(SWEEP_MS, () => {
      const before = this.#options.clock.monotonic() - this.#options.idleMs;
      for (const [id, session] of this.#live) {
        const isUnused = isIdle(session) && session.lastUsed < before;
        if (isUnused || this.#options.isGone?.(session.caller, session)) this.#putAway(id, session);
      }
      this.#sweeper = this.#sweepLater();
    });
  }

  #makeRoom(): void {
    const counts = new Map<string, number>();
    for (const { caller } of this.#live.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    const isGreedy = ({ caller }: Session): number =>
      (counts.get(caller) ?? 0) > this.#options.most / 4 ? 0 : 1;
    // Callers that have more than a quarter of all sessions lose theirs first.
    const idle = [...this.#live]
      .filter(([, session]) => isIdle(session))
      .toSorted(([, a], [, b]) => isGreedy(a) - isGreedy(b) || a.lastUsed - b.lastUsed);
    // A tenth at once, so that a flood of new sessions does not sort the list for each of them.
    for (const [id, session] of idle.slice(0, Math.ceil(this.#options.most / 10))) {
      this.#putAway(id, session);
    }
  }
}

function isIdle({ client, stream }: Session): boolean {
  return client.busy === 0 && (stream === undefined || stream.isOver);
}

function readSealed(value: JsonObject | undefined): Sealed | undefined {
  const profile = value?.["profile"];
  // It was sealed by us; another version of us may have sealed something else.
  if (value === undefined || !isJsonObject(profile)) return undefined;
  const { agent, caller, expiresAt, nonce } = value;
  const { protocolVersion, capabilities } = profile;
  const isWhole =
    typeof agent === "string" &&
    typeof caller === "string" &&
    typeof expiresAt === "number" &&
    typeof nonce === "string" &&
    typeof protocolVersion === "string" &&
    isLegacyVersion(protocolVersion) &&
    (value["home"] === undefined || typeof value["home"] === "string") &&
    isJsonObject(capabilities);
  return isWhole ? (value as unknown as Sealed) : undefined;
}
