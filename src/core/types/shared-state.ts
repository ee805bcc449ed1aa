// The state that several processes share, or several machines. Everything above src/core/state/ works with these interfaces
// and does not know what is behind them. src/core/state/files/ implements them with files, src/core/state/engines/ with
// PostgreSQL and Valkey; docs/architecture.md says what is shared and what stays on one machine.
//
// What holds for all of them:
// - A write has happened when its promise resolves, and everybody who reads afterwards sees it. Where an interface
//   answers without a promise, it answers from memory, and a change made elsewhere shows within a second.
// - Keys and values are checked by whoever reads them: another version may have written them.
// - A promise rejects if the store cannot be reached. It must settle within seconds: a call or a request waits for it.

import type { ApprovalAnswer, ApprovalRequest, StoredApproval } from "./approval.ts";
import type { AuditLine } from "./audit-entry.ts";
import type { Caller, TokenPolicy } from "./caller.ts";
import type { JsonObject } from "./json.ts";
import type { KeyRing } from "./key-ring.ts";
import type { LostPins, PinnedServer, ServerPins } from "./pin.ts";

export interface SharedState extends BoardState {
  usage: DailyUsage;
  tokens: TokenStore;
  sessions: SessionStore;
  pending: PendingApprovals;
  /** Opens the ring of keys that seal what clients carry. Rejects if there is no key and none can be stored. */
  openSealKeys(options: SealKeysOptions): Promise<SealKeyRing>;
  /** Absent where nothing can be away: with files. */
  health?: () => StateHealth;
  /** Rejects with CONFIG_INVALID if a gateway could not open what is stored, and so not start. Absent with files. */
  checkKeys?(): Promise<void>;
  /** What this user may not do there although a gateway has to, such as `insert on plugboard_audit`. Absent with files. */
  missingRights?(): Promise<string[]>;
  /** The gateways that share this state. Absent where they cannot know of each other: with files. */
  replicas?: Replicas;
  /** Resolves when everything is written. Never rejects. */
  close(): Promise<void>;
}

/** How it stands with a state that several machines share. */
export interface StateHealth {
  /** Gateways that use it now, as far as is known. */
  replicas: number;
  /** `postgres`, `valkey` if there is one, and `audit` for what records calls on this machine. */
  engines: readonly string[];
  /** Those that cannot be used, with a sentence about it. Calls go on. */
  away: readonly { engine: string; message: string }[];
}

/** One of the gateways that share a state. */
export interface Replica {
  /** Of this process: one that starts again has another. */
  id: string;
  /** For people: its URL, or else its machine. */
  name: string;
  /** How the others reach it. Absent: they cannot. */
  url?: string;
  /** Hash of what it runs with, once it has said so. */
  configuration?: string;
}

/** The gateways that share a state. Answers from memory. */
export interface Replicas {
  /** Undefined for a command, which is not a replica. */
  readonly own: Replica | undefined;
  /** Milliseconds by which this machine's clock is ahead of the store's; less than 0 if it is behind. 0: about the same. */
  readonly clockAhead: number;
  /** The list says only what gateways with the same keys have said. Without keys, whoever can write there says where they are. */
  readonly areAuthentic: boolean;
  /** Something is listed there that was ignored: nobody with these keys has said it within a minute, by this machine's clock. */
  readonly hasUnsealed: boolean;
  /**
   * Those that live, as far as is known, the own one first. One that is killed is listed for up to half a minute; while the
   * store is away, nobody leaves.
   */
  list(): readonly Replica[];
  /** Asks anew. Never rejects. */
  look(): Promise<void>;
  /**
   * Tells the others what this one runs with, as a hash of the text that nobody can guess the text by. Texts that are the
   * same have the same hash.
   */
  announce(configuration: string): void;
  /** Hears when the list, or what one of them runs with, is another. The function that is returned ends it. */
  onChange(listener: () => void): () => void;
}

/** The part that a board uses. */
export interface BoardState {
  pins: PinStore;
  approvals: ApprovalStore;
  grants: GrantStore;
  audit: AuditTrail;
  limits: Limits;
  changes: Invalidation;
}

/** What is stored about a server definition's pins. */
export type StoredPins =
  | { kind: "none" }
  | { kind: "pinned"; pins: ServerPins }
  | { kind: "lost"; lost: LostPins };

/** What `ChangePins` returns to leave everything as it is, also pins that are lost. */
export const UNCHANGED = Symbol("unchanged");

/**
 * Returning undefined removes the pins; returning the same object leaves them as they are. `lost` is set if there
 * were pins that cannot be had any more.
 */
export type ChangePins = (
  pins: ServerPins | undefined,
  lost: LostPins | undefined,
) => ServerPins | undefined | typeof UNCHANGED;

/**
 * The pins of server definitions, and apart from them a record of which definitions have pins: pins that are gone
 * although there is a record are lost, and never count as "not pinned yet".
 */
export interface PinStore {
  /** The pins outlive this process, and others can change them. */
  readonly isPersistent: boolean;
  read(id: PinnedServer): Promise<StoredPins>;
  /**
   * Changes what is stored at that moment: no other change may come between what `change` is given and what is
   * stored. A store that compares and sets calls `change` again after it has lost, so `change` must not do anything
   * else. Resolves to what is stored afterwards.
   */
  update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined>;
  /** Ordered by name; several definitions of one name follow each other. */
  list(): Promise<ServerPins[]>;
  /** The definitions that were pinned and whose pins are missing or cannot be read. */
  lost(): Promise<LostPins[]>;
}

/** An approval without its time: what makes it another one. */
export type ApprovalKey = Omit<StoredApproval, "at">;

/** The tools for which somebody answered "always". A lost approval only means that the person is asked again. */
export interface ApprovalStore {
  /** Sees what others have added or forgotten before it was called: a forgotten approval must not let a call pass. */
  has(approval: ApprovalKey): Promise<boolean>;
  /** Replaces an approval with the same key. */
  add(approval: StoredApproval): Promise<void>;
  /** Oldest first. */
  list(): Promise<StoredApproval[]>;
  forget(approvals: readonly ApprovalKey[]): Promise<void>;
}

export interface PendingApproval {
  /** Short, since people type it. */
  id: string;
  caller: Caller;
  agent: string;
  /** What the person sees. Its `hash` is that of the definitions of the tool and its server. */
  request: ApprovalRequest;
  /** Hash of the arguments. */
  argsHash: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
}

/** With `refuse`, the model reads why. */
export type PendingAnswer = ApprovalAnswer | { refuse: string };

/**
 * Calls that wait for a person's answer, where whoever may answer finds them. A question is gone when its process is
 * gone. An answer is for one question only; of several, one counts.
 */
export interface PendingApprovals {
  /** Rejects if the question cannot be put where others find it. */
  put(question: PendingApproval): Promise<void>;
  /** The questions that still wait, oldest first. */
  list(): Promise<PendingApproval[]>;
  /** False if nobody waits for the answer any more. Rejects if it cannot be passed on. */
  answer(question: PendingApproval, answer: PendingAnswer): Promise<boolean>;
  /** The answers to these questions that have come so far. */
  answersTo(questions: readonly PendingApproval[]): Promise<Map<string, PendingAnswer>>;
  /** Never rejects. */
  remove(question: PendingApproval): Promise<void>;
}

/** A question about arguments of more is not put. */
export const MOST_ARGUMENT_BYTES = 1024 * 1024;

/** `server`: where a server signs in. `client`: who we are there. `grant`: the tokens. */
export type GrantDocument = "server" | "client" | "grant";

/**
 * What sign-ins produce. The values are secrets: only their owner may read them where they are stored. Nothing
 * acknowledged may be lost, since a refresh token that has been used cannot be used again.
 */
export interface GrantStore {
  read(kind: GrantDocument, key: string): Promise<JsonObject | undefined>;
  write(kind: GrantDocument, key: string, value: JsonObject): Promise<void>;
  remove(kind: GrantDocument, key: string): Promise<void>;
  /**
   * Stores `after`, or removes the document without it, if what is stored equals `before` at that moment. Otherwise
   * resolves to false and changes nothing.
   */
  replace(
    kind: GrantDocument,
    key: string,
    before: JsonObject | undefined,
    after: JsonObject | undefined,
  ): Promise<boolean>;
  /**
   * Runs the task while it holds the lease of this grant, which only one holder has at a time, whatever the machine.
   * The others wait, up to a minute, and then read again; after that it rejects with TIMEOUT. A lease lasts as long as
   * its holder renews it, and ends when the holder is gone: 15 s after the last sign of life at the latest. A holder
   * that was stopped for longer may go on beside its successor, so what it writes must go through `replace`. If the
   * lease cannot be had because the store is down, it rejects: two holders would lose the grant.
   */
  withLease<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

/**
 * The calls on record. A line is safe on this machine when its promise resolves; who reads the audit on another one sees
 * it within seconds, or when the store can be reached again. None is lost or doubled on the way.
 */
export interface AuditTrail {
  /** For people: a path, or whatever says where the records are. */
  readonly where: string;
  /** `onCrowded` is told if old records cannot make room for new ones; they are kept then. */
  open(onCrowded: (error: unknown) => void): AuditSink;
  /** Rejects if the records cannot be read. */
  read(options: ReadAuditOptions): AsyncIterable<AuditLine>;
  /** Why nothing can be recorded there, if that shows before somebody tries. */
  obstacle(): Promise<{ message: string; hint: string } | undefined>;
}

/** Takes lines of JSON that end in a newline. Lines of several processes never mix within a line. */
export interface AuditSink {
  /** `appendNow` can be used. */
  readonly isOpen: boolean;
  /** Rejects if not all lines were recorded. The caller keeps them and tries again, so some may be there twice. */
  append(lines: Buffer): Promise<void>;
  /**
   * Records the lines in the first `length` bytes, so that they outlive this process. A call waits for this line
   * alone, so a sink that can do it at once returns undefined, and throws if it fails. The bytes are used for
   * something else as soon as it returns.
   */
  appendNow(bytes: Buffer, length: number): undefined | Promise<void>;
  close(): Promise<void>;
}

export interface ReadAuditOptions {
  /** Go on after the end, until the signal aborts. */
  follow?: boolean;
  filter?: (line: AuditLine) => boolean;
  /** Reads only this many of the last lines that are there already. */
  last?: number;
  signal?: AbortSignal;
  /** For each line that is not one of an audit: torn, changed, or of another program. */
  onDamage?: () => void;
}

/**
 * Says that something changed, so that others need not ask all the time. The pin store publishes its changes; whoever signs
 * somebody in or out publishes `grants`. It is a hint and never the only way to notice: a message may be lost, several may arrive as one,
 * and one may arrive for nothing. Whoever listens reads again what it needs.
 */
export interface Invalidation {
  /** Resolves when everybody else can notice. Never rejects. */
  publish(topic: Topic): Promise<void>;
  /**
   * Everybody hears of it, the process that published it too, within a second unless the message is lost. The
   * function that is returned ends it.
   */
  subscribe(topic: Topic, listener: () => void): () => void;
}

/** `lists`: what a server offers is another, as one of several gateways has seen. */
export type Topic = "pins" | "grants" | "lists";

/** A bucket holds as many as are allowed in a minute, and refills steadily. */
export interface LimitBucket {
  /** Names it among all that share the state. */
  key: string;
  perMinute: number;
}

/** What cannot go on at once. */
export interface Delay {
  /** Nothing was taken. */
  isRefused: boolean;
  /** Milliseconds until each bucket has one, in the order in which they were named. */
  waits: readonly number[];
}

/**
 * How often something may happen, by everybody together. What is counted may be lost: it only lets a minute's worth pass once
 * more. While more than half of a bucket is left, a process may take some of it ahead, a hundredth at a time, and must use it
 * within a second or give it back: so no more is allowed than the bucket holds and what it gets in a second. Never rejects:
 * while the store is down, each process limits what it does itself. With files, each process always does.
 */
export interface Limits {
  /**
   * Takes one from each bucket or from none, in one step: a call that one limit refuses must not use up another. One
   * that is not there yet is taken in advance, so that calls keep their order, unless its bucket needs longer than
   * `longestWait`. Undefined if the call can go on at once; every call asks, so whoever knows at once makes no promise.
   */
  take(
    buckets: readonly LimitBucket[],
    longestWait: number,
  ): undefined | Delay | Promise<undefined | Delay>;
  /** Returns requests that were taken and not used. */
  giveBack(buckets: readonly LimitBucket[]): void;
  /**
   * Takes a place among `most` at a time. Undefined if all of them are taken; otherwise call what it gives when the place is
   * free. The places of a process that is gone are free half a minute after its last sign of life.
   */
  enter(key: string, most: number): Leave | undefined | Promise<Leave | undefined>;
}

/** Gives a place back. */
export type Leave = () => void;

/**
 * How much each key has used on one day, which begins at midnight UTC. It outlives the process. Every call asks, so it answers
 * from memory once it knows a key, and what is used is written within a second: several machines together may use
 * more than `most` by what they use in a second. While the store is down, each process goes on with what it knows.
 */
export interface DailyUsage {
  /** Uses one, unless `most` are used already. Never rejects. */
  use(key: string, most: number): boolean | Promise<boolean>;
  /** What was used today, without keys that have used nothing. Rejects if it cannot be read. */
  today(keys: readonly string[]): Promise<Map<string, number>>;
  /** Resolves when everything is written. Never rejects. */
  close(): Promise<void>;
}

/** The token that the gateway makes at its first start. */
export const DEFAULT_TOKEN = "default";

export interface GatewayToken {
  /** Sessions are bound to it, never to the token's bytes. */
  id: string;
  name: string;
  /** The only agents it is for. Absent: every agent. */
  agents?: readonly string[];
  policy?: TokenPolicy;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt?: number;
  /** At most a minute before its last use: not every use is noted. */
  lastUsedAt?: number;
}

export type NewToken = Pick<GatewayToken, "name" | "agents" | "policy" | "expiresAt">;

/** The bearer tokens of the gateway. Of a token with a name, only the hash is stored. */
export interface TokenStore {
  /** Where its owner finds the default token. */
  readonly defaultFile: string;
  /**
   * The token with these characters, unless it has expired or was revoked. Answers from memory, in the middle of a
   * request: a token that was added or revoked elsewhere is noticed within a second. While the store is down, the
   * tokens that were known stay valid.
   */
  find(text: string): GatewayToken | undefined;
  /** The token with this id, unless it has expired or was revoked. Answers from memory too. */
  current(id: string): GatewayToken | undefined;
  /** The default token, made if there is none. Of several processes that start at once, one makes it. */
  ensureDefault(): Promise<string>;
  /** Named tokens, oldest first; before them the default token, if there is one. */
  list(): Promise<GatewayToken[]>;
  /** The text is not kept: it can be shown only now. Rejects with INVALID_ARGUMENTS if the name is taken. */
  add(given: NewToken): Promise<{ token: GatewayToken; text: string }>;
  /** By name or id. Rejects with INVALID_ARGUMENTS if there is no such token. */
  revoke(nameOrId: string): Promise<GatewayToken>;
  /** Whatever a provider has said of this caller until now is no longer believed; without one, of anybody. For good. */
  signOut(caller?: string): Promise<void>;
  /**
   * What was issued to this caller until then, in milliseconds since the epoch, does not count: -Infinity if nobody has signed
   * them out, Infinity while nobody can say. Answers from memory, like `find`.
   */
  signedOutUntil(caller: string): number;
  /** Notes which tokens were used since the last time. Never rejects. */
  close(): Promise<void>;
}

export interface SessionNotes {
  logLevel?: string;
  /** URIs as the client knows them. */
  subscriptions?: readonly string[];
  /** Where its own servers run, if that is not where it began. */
  home?: string;
}

/** From which gateway to which a session goes on with servers of its own. `began` is the one that is sealed in its id. */
export interface SessionMove {
  began: string;
  from: string;
  to: string;
}

/**
 * What cannot be in the sealed session id, kept until the session expires. Sessions are known by their nonce. Times
 * are in milliseconds since the epoch. Losing the notes costs a client its log level and subscriptions; losing that a
 * session was ended lets its id be used again until it expires. What is remembered of one caller is bounded before what is
 * remembered of all: room for a caller's own sessions is made among those.
 */
export interface SessionStore {
  /** Answers from memory. A session that was ended elsewhere is noticed within a second. */
  isRevoked(nonce: string): boolean;
  /** Holds at once; resolves when it also holds after a restart. For good: notes do not bring a session back. Never rejects. */
  revoke(nonce: string, expiresAt: number, caller?: string): Promise<void>;
  get(nonce: string): SessionNotes | undefined;
  /**
   * Replaces what was noted; the last one wins. What two note at once of a session's subscriptions is joined: its client may
   * reach several gateways. Never rejects.
   */
  set(nonce: string, expiresAt: number, notes: SessionNotes, caller?: string): Promise<void>;
  /**
   * Of several gateways that move a session at once from the same one, one does. Resolves to where it is afterwards; undefined
   * if it has ended. Rejects if that cannot be known. Absent where there is one gateway.
   */
  move?(
    nonce: string,
    expiresAt: number,
    move: SessionMove,
    caller?: string,
  ): Promise<string | undefined>;
  /** `revoke`, for what works once: of all who claim it, one gets true. Rejects if that cannot be known. */
  claim(nonce: string, expiresAt: number): Promise<boolean>;
  /** Hears of sessions that were noted or ended elsewhere, within a second. The function that is returned ends it. */
  onChange(listener: (nonce: string) => void): () => void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

export interface SealKeysOptions {
  /** Milliseconds that anything sealed can be valid. A key is kept for as long after its time. */
  keepFor: number;
  /** Says what is wrong with what is stored, or that it cannot be written. The keys that are known stay in use. */
  onProblem: (message: string) => void;
}

/** Of several processes that find a new key due, one makes it, and the others use that one. */
export interface SealKeyRing extends KeyRing {
  close(): void;
}
