// What has changed, by topic: a number for each in PostgreSQL, which grows with every change. A notification tells the others
// at once. Everybody also compares the numbers within a second (a beat), so that a lost notification costs a second. With the
// same query a replica says that it lives and what it runs with, and learns of the others. What it says is sealed for a
// minute: requests are sent to the URL in it, and whoever can write to the table must not choose one.

import { createHmac } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, tryParseJson } from "../../types/json.ts";
import type { Invalidation, Replica, Replicas, Topic } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import { notification, type Postgres, refusalIn, type Row } from "./postgres.ts";
import type { SealedValues } from "./sealed-values.ts";

/** The topics of the port, and those that only the stores in this folder listen to. */
export type EngineTopic = Topic | "tokens" | "sessions" | "seal keys";
/** Whatever has a number. That of `audit` orders its lines. */
const TOPICS = Object.keys({
  audit: true,
  grants: true,
  lists: true,
  pins: true,
  "seal keys": true,
  sessions: true,
  tokens: true,
} satisfies Record<EngineTopic | "audit", true>);

/** With the time that the query takes, less than a second. */
const BEAT_MS = 750;
/** In SQL: a replica is gone after this long without a beat. */
export const ALIVE = "seen > now() - interval '15 seconds'";

/**
 * How long a replica still counts here after the engine has called it gone. After PostgreSQL was away, the replica that beats first
 * must not take the others for gone.
 */
const FORGET_MS = 5000;
/** How often a replica seals what it says of itself. */
const SEAL_MS = 10_000;
/** A row counts that was sealed within this of our time: clocks may differ by half a minute, and a beat may be late. */
const SEALED_FOR_MS = 60_000;
/** Two machines that differ by less from the engine differ by less than half a minute from each other. */
const CLOCK_DIFFERS_MS = 15_000;
const ENGINE_TIME = "extract(epoch from clock_timestamp())::float8 * 1000 as engine_time";
const SALT = "select salt from plugboard_salt";
/** Of a statement whose result need not survive a crash of the engine: it does not wait for the disk. */
const WITHOUT_DISK = "set_config('synchronous_commit', 'off', true)";
const LONGEST_NAME = 200;
/** Of a configuration. */
const HASH = /^[0-9a-f]{12}$/;
/** Whoever stops properly removes itself; those who were killed are removed by whoever starts. */
const REMOVE_KILLED = "delete from plugboard_replicas where seen < now() - interval '1 day'";
/** The others, as one JSON text. */
const OTHERS = `(select coalesce(json_agg(json_build_object('id', id, 'sealed', sealed, 'alive', ${ALIVE})), '[]')::text
  from plugboard_replicas where id <> $1 and seen > now() - interval '10 minutes') as others`;

export interface RevisionsOptions {
  postgres: Postgres;
  /** Undefined for a command, which is no replica and does not wait for changes. */
  replica: Replica | undefined;
  values: SealedValues;
  clock: Clock;
}

/**
 * `isBehind`: the engine has lost changes that were known, after a failover or from a backup, so that everything is to be
 * read again. If it rejects, it is called again with the next beat, and also if PostgreSQL was away since: what it read may
 * have come from memory.
 */
type Listener = (isBehind: boolean) => unknown;

interface Subscription {
  topic: EngineTopic;
  listener: Listener;
  /** One at a time, so that what was read first does not win. */
  running: Promise<unknown>;
}

export class Revisions implements Invalidation, Replicas {
  readonly #options: RevisionsOptions;
  readonly #subscriptions = new Set<Subscription>();
  /** The newest revision that was heard of. */
  readonly #known = new Map<string, bigint>();
  /** The topics whose listeners are told again with the next beat, and whether the engine has lost changes of them. */
  readonly #unread = new Map<string, boolean>();
  /** How often PostgreSQL had been away when everything that had changed was last told. */
  #outages = 0;
  #own: Replica | undefined;
  #others = new Map<string, { replica: Replica; lastListed: number }>();
  readonly #watchers = new Set<() => void>();
  #clockAhead = 0;
  #hasUnsealed = false;
  /** What this one says of itself, as it was last sealed. */
  #sealed: { replica: Replica; at: number; text: string } | undefined;
  #salt = "";
  #lastBeat: number;
  #beating: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;
  #refusal: string | undefined;

  constructor(options: RevisionsOptions) {
    this.#options = options;
    this.#own = options.replica;
    this.#lastBeat = options.clock.monotonic();
  }

  get own(): Replica | undefined {
    return this.#own;
  }

  list(): readonly Replica[] {
    const others = [...this.#others.values()].map(({ replica }) => replica);
    return this.#own === undefined ? others : [this.#own, ...others];
  }

  get count(): number {
    return this.#others.size + (this.#own === undefined ? 0 : 1);
  }

  get clockAhead(): number {
    return this.#clockAhead;
  }

  get areAuthentic(): boolean {
    return this.#options.values.areAuthentic;
  }

  get hasUnsealed(): boolean {
    return this.#hasUnsealed;
  }

  announce(configuration: string): void {
    if (this.#own === undefined) return;
    const hash = createHmac("sha256", this.#salt).update(configuration).digest("hex").slice(0, 12);
    this.#own = { ...this.#own, configuration: hash };
    void this.look();
  }

  onChange(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  /** Milliseconds since everything that changed was last heard of. */
  get age(): number {
    return this.#options.clock.monotonic() - this.#lastBeat;
  }

  /** Why PostgreSQL does not take the beats although it can be reached, while it does not. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** The first beat. Rejects if PostgreSQL cannot be reached. */
  async start(): Promise<void> {
    const { postgres, clock } = this.#options;
    const [row] = await postgres.query(SALT);
    this.#salt = String(row?.["salt"] ?? "");
    if (this.#own === undefined) {
      const before = clock.now();
      const [found] = await postgres.query(`select ${OTHERS}, ${ENGINE_TIME}`, [""]);
      return this.#heardOf(found, before);
    }
    await postgres.query(REMOVE_KILLED);
    await this.#beat();
    this.#beatLater();
  }

  /** Compares now rather than at the next second. Never rejects. */
  async look(): Promise<void> {
    if (this.#own === undefined || this.#isClosed) return;
    void this.#options.postgres.tryRefused();
    this.#beating ??= this.#beat()
      .then(
        () => {
          this.#refusal = undefined;
        },
        (error: unknown) => {
          this.#refusal = refusalIn(error);
        },
      )
      .finally(() => {
        this.#beating = undefined;
      });
    await this.#beating;
  }

  /** Runs a statement that ends in `returning`, and tells everybody in the same step. Resolves to how many rows it returned. */
  async change(
    topic: EngineTopic,
    statement: string,
    values: readonly unknown[],
    also: readonly string[] = [],
  ): Promise<number> {
    const run = (): Promise<Row[]> =>
      this.#options.postgres.query(
        `with bumped as (update plugboard_revisions set revision = revision + 1
            where topic = '${topic}' returning revision),
          changed as (${statement})${also.map((each, at) => `, also_${at} as (${each})`).join("")}
        select (select ${notification(`'${topic} ' || revision`)} from bumped),
          exists (select 1 from bumped) as told, (select count(*)::int from changed) as changed`,
        values,
      );
    let [row] = await run();
    if (row?.["told"] === false) {
      await this.#putBack([topic]);
      // What takes its number from there has done nothing.
      if (row["changed"] === 0) [row] = await run();
    }
    return Number(row?.["changed"] ?? 0);
  }

  async publish(topic: EngineTopic): Promise<void> {
    // It is only a hint.
    await this.#options.postgres
      .query(
        `with bumped as (update plugboard_revisions set revision = revision + 1
            where topic = '${topic}' returning revision)
          select ${notification(`'${topic} ' || revision`)}, ${WITHOUT_DISK} from bumped`,
      )
      .catch(() => {});
  }

  subscribe(topic: EngineTopic, listener: Listener): () => void {
    const subscription = { topic, listener, running: Promise.resolve() };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#beating;
    const { postgres } = this.#options;
    if (this.#own === undefined) return;
    await postgres
      .query("delete from plugboard_replicas where id = $1", [this.#own.id])
      .catch(() => {});
  }

  #beatLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.later(BEAT_MS, () => {
      void this.look().then(() => this.#beatLater());
    });
  }

  async #beat(): Promise<void> {
    const { postgres, clock } = this.#options;
    const before = clock.monotonic();
    const asked = clock.now();
    const known = new Map(this.#known);
    const { outages } = postgres;
    const own = this.#own;
    const rows = await postgres.probe(
      `with beat as (insert into plugboard_replicas (id, sealed, seen) values ($1, $2, now())
          on conflict (id) do update set sealed = excluded.sealed, seen = excluded.seen)
      select topic, revision::text, ${OTHERS}, ${ENGINE_TIME}, ${WITHOUT_DISK} from plugboard_revisions`,
      [own?.id, own && this.#seal(own)],
    );
    if (rows.length > 0) this.#heardOf(rows[0], asked);
    await this.#putBack(TOPICS.filter((each) => rows.every(({ topic }) => topic !== each)));
    if (outages !== this.#outages) {
      this.#outages = outages;
      for (const topic of this.#known.keys()) if (isRead(topic)) this.#mustRead(topic);
    }
    await Promise.all(rows.map((row) => this.#compare(row, known)));
    this.#lastBeat = before;
    void postgres.listen((payload) => this.#onMessage(payload));
  }

  /**
   * Somebody has removed these numbers. Without one, nobody would hear of a change, such as a token that is revoked. The next
   * one is greater than all before, so that everybody reads again.
   */
  async #putBack(topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#options.postgres.query(
      `insert into plugboard_revisions select topic, greatest((extract(epoch from now()) * 1000)::bigint,
          (select max(revision) from plugboard_sessions) + 1, (select max(batch) from plugboard_audit) + 1)
        from unnest($1::text[]) topic on conflict do nothing`,
      [topics],
    );
    for (const topic of topics) this.#mustRead(topic, true);
  }

  /** `asked` is when, by this machine's clock. */
  #heardOf(row: Row | undefined, asked: number): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const before = [this.list(), this.#clockAhead !== 0, this.#hasUnsealed];
    this.#hasUnsealed = false;
    this.#clockAhead = aheadOf(Number(row?.["engine_time"]), asked, clock.now());
    const listed = tryParseJson(String(row?.["others"] ?? ""));
    const others = new Map<string, { replica: Replica; lastListed: number }>();
    for (const each of Array.isArray(listed) ? listed : []) {
      if (!isJsonObject(each) || typeof each["id"] !== "string") continue;
      const isAlive = each["alive"] === true;
      const replica = this.#open(each["id"], each["sealed"]);
      if (replica === undefined) {
        this.#hasUnsealed ||= isAlive;
        continue;
      }
      const lastListed = isAlive ? now : (this.#others.get(replica.id)?.lastListed ?? -Infinity);
      if (lastListed > now - FORGET_MS) others.set(replica.id, { replica, lastListed });
    }
    this.#others = new Map([...others].toSorted(([, a], [, b]) => byName(a.replica, b.replica)));
    if (isDeepStrictEqual(before, [this.list(), this.#clockAhead !== 0, this.#hasUnsealed])) return;
    for (const watcher of this.#watchers) watcher();
  }

  #seal(replica: Replica): string {
    const { values, clock } = this.#options;
    const at = clock.now();
    const { replica: before, at: since = -Infinity, text } = this.#sealed ?? {};
    if (text !== undefined && before === replica && Math.abs(at - since) < SEAL_MS) return text;
    const { id, ...said } = replica;
    const sealed = values.seal(JSON.stringify({ ...said, at }), placeOf(id));
    this.#sealed = { replica, at, text: sealed };
    return sealed;
  }

  /** Undefined for what nobody with the keys has sealed under this id, or too long ago: somebody may have put it back. */
  #open(id: string, sealed: unknown): Replica | undefined {
    const { values, clock } = this.#options;
    const said = tryParseJson(values.tryOpen(sealed, placeOf(id)) ?? "");
    if (!isJsonObject(said) || typeof said["at"] !== "number") return undefined;
    return Math.abs(clock.now() - said["at"]) > SEALED_FOR_MS ? undefined : readReplica(id, said);
  }

  /** Whoever may connect to the database can send one, also without any right to the tables. */
  #onMessage(payload: string): void {
    const [, topic = "", revision] = /^(.+) (\d{1,19})$/.exec(payload) ?? [];
    // The first beat has told of all topics that there are.
    if (this.#known.has(topic)) this.#hear({ topic, revision }).catch(() => {});
  }

  /** `known` is what was known before the engine was asked: a revision below that has been lost. */
  async #compare(row: Row, known: ReadonlyMap<string, bigint>): Promise<void> {
    const { topic, revision } = row;
    const before = typeof topic === "string" ? known.get(topic) : undefined;
    const isBehind =
      before !== undefined && typeof revision === "string" && before > BigInt(revision);
    if (isBehind) {
      this.#known.delete(String(topic));
      this.#mustRead(String(topic), isBehind);
    }
    await this.#hear(row);
  }

  async #hear({ topic, revision }: Row): Promise<void> {
    if (typeof topic !== "string" || typeof revision !== "string") return;
    const known = this.#known.get(topic) ?? -1n;
    const isBehind = this.#unread.get(topic);
    if (known >= BigInt(revision) && isBehind === undefined) return;
    if (known < BigInt(revision)) this.#known.set(topic, BigInt(revision));
    this.#unread.delete(topic);
    const heard = [...this.#subscriptions].filter((each) => each.topic === topic);
    try {
      await Promise.all(heard.map((each) => tell(each, isBehind ?? false)));
    } catch (error) {
      this.#mustRead(topic, isBehind);
      throw error;
    }
  }

  #mustRead(topic: string, isBehind = false): void {
    this.#unread.set(topic, isBehind || this.#unread.get(topic) === true);
  }
}

/** Whoever listens to `lists` asks the servers, and reads nothing here that may have been away. */
function isRead(topic: string): boolean {
  return topic !== "lists";
}

function tell(subscription: Subscription, isBehind: boolean): Promise<unknown> {
  const { running, listener } = subscription;
  const told = running.then(() => listener(isBehind));
  subscription.running = told.catch(() => {});
  return told;
}

/** Milliseconds, or 0 if that is too little to matter. The engine's clock was read at some time between the two. */
function aheadOf(engine: number, from: number, to: number): number {
  const [least, most] = [from - engine, to - engine];
  if (least > CLOCK_DIFFERS_MS) return least;
  return most < -CLOCK_DIFFERS_MS ? most : 0;
}

/** Without keys, whoever can write to the table chooses it. A text that is no address would end the process that tries it. */
function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function placeOf(id: string): string {
  return `replica ${id}`;
}

function byName(a: Replica, b: Replica): number {
  const [first, second] = a.name === b.name ? [a.id, b.id] : [a.name, b.name];
  return first < second ? -1 : 1;
}

function readReplica(id: string, { name, url, configuration }: JsonObject): Replica | undefined {
  if (typeof name !== "string") return undefined;
  return {
    id,
    // Logs, commands and the page show it.
    name: visible(oneLine(name, LONGEST_NAME)),
    ...(typeof url === "string" && isWebAddress(url) && { url }),
    ...(typeof configuration === "string" && HASH.test(configuration) && { configuration }),
  };
}
