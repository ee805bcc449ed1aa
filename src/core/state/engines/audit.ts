// The audit of all replicas in PostgreSQL. Every line is on the disk of its own machine first, and is sent in batches; while the
// engine is away, the lines wait there.

import type { AuditLine } from "../../types/audit-entry.ts";
import type { AuditSink, AuditTrail, ReadAuditOptions } from "../../types/shared-state.ts";
import { type Clock, pause, type Timer, within } from "../../../util/clock.ts";
import { lastLines, parseAuditLine } from "../audit-lines.ts";
import { type Postgres, refusalIn, type Row } from "./postgres.ts";
import type { Spool, SpoolFile } from "./spool.ts";

const SEND_AFTER_MS = 200;
const RETRY_MS = 1000;
const POLL_MS = 200;
const BATCH = 500;
/** Longer than a batch. */
const PAGE = 1000;
const CLOSE_MS = 5000;

const FIRST = "00000000-0000-0000-0000-000000000000";
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const NO_NUMBER = "the row 'audit' of plugboard_revisions is missing";

export class AuditRows implements AuditTrail {
  readonly where: string;
  readonly #postgres: Postgres;
  readonly #spool: Spool;
  readonly #clock: Clock;
  /** Of processes that have ended; those of this one are in the spool. */
  #left: SpoolFile[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #refusal: string | undefined;

  constructor(postgres: Postgres, spool: Spool, clock: Clock) {
    this.where = `the table plugboard_audit of PostgreSQL at ${postgres.where}`;
    this.#postgres = postgres;
    this.#spool = spool;
    this.#clock = clock;
  }

  /** Why PostgreSQL does not take the lines although it can be reached, while it does not. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Sends what processes that were killed have left on this machine. */
  async sendLeft(): Promise<void> {
    this.#left = await this.#spool.left();
    if (this.#left.length > 0) this.#sendLater(0);
  }

  open(onCrowded: (error: unknown) => void): AuditSink {
    return this.#spool.sink(() => this.#sendLater(SEND_AFTER_MS), onCrowded);
  }

  async *read(options: ReadAuditOptions): AsyncGenerator<AuditLine> {
    const { follow = false, last = Infinity, signal = new AbortController().signal } = options;
    // So that a reader finds at least the lines of this process.
    await this.#send().catch(() => {});
    const [row] = await this.#postgres.query(
      "select revision::text as batch from plugboard_revisions where topic = 'audit'",
    );
    let batch = String(row?.["batch"] ?? 0);
    const there = last === Infinity ? this.#all(batch, options) : this.#end(batch, last, options);
    yield* lastLines(there, last);
    if (!follow) return;
    while (!signal.aborted) {
      await pause(this.#clock, POLL_MS, signal);
      const rows = await this.#postgres.query(
        `select batch::text, line from plugboard_audit where batch > $1 order by batch, id limit ${PAGE}`,
        [batch],
      );
      // The rest of a batch that the page has cut comes with the next one.
      const cut = rows.length === PAGE ? rows.at(-1)?.["batch"] : undefined;
      const whole = rows.filter((each) => each["batch"] !== cut);
      batch = String(whole.at(-1)?.["batch"] ?? batch);
      if (signal.aborted) return;
      yield* linesIn(whole, options);
    }
  }

  /** Why lines could not be written on this machine the last time. */
  get failure(): string | undefined {
    return this.#spool.failure;
  }

  async obstacle(): Promise<{ message: string; hint: string } | undefined> {
    const why = await this.#spool.obstacle();
    if (why === undefined) return undefined;
    return {
      message: `new calls are not recorded on this machine: ${why}`,
      hint: "make room there, and let the user of the gateway write",
    };
  }

  /** Sends what is left, for a limited time. Never rejects: what stays is sent at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await within(
      this.#clock,
      CLOSE_MS,
      this.#send().catch(() => {}),
    );
  }

  #sendLater(ms: number): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#clock.later(ms, () => {
      this.#timer = undefined;
      this.#send().catch(() => this.#sendLater(RETRY_MS));
    });
  }

  /** What is appended while it sends goes along. */
  #send(): Promise<void> {
    this.#sending ??= this.#sendAll()
      .then(
        () => {
          this.#refusal = undefined;
        },
        (error: unknown) => {
          this.#refusal = refusalIn(error);
          throw error;
        },
      )
      .finally(() => {
        this.#sending = undefined;
      });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (const file of this.#left) {
      await this.#sendFile(file);
      if (!file.isOpen) await file.remove();
    }
    this.#left = [];
    for (const file of this.#spool.own) {
      const { isOpen } = file;
      await this.#sendFile(file);
      if (!isOpen) await this.#spool.remove(file);
    }
  }

  async #sendFile(file: SpoolFile): Promise<void> {
    for (let isAnyLeft = true; isAnyLeft;) {
      const { lines, isMore, done } = await file.next(BATCH);
      if (lines.length > 0) {
        const bumped = await this.#postgres.query(
          `with bumped as (update plugboard_revisions set revision = revision + 1
              where topic = 'audit' returning revision),
            added as (insert into plugboard_audit select id, revision, line
              from unnest(string_to_array($1, ',')::uuid[], string_to_array($2, e'\\n')) given (id, line),
                bumped
              on conflict (id) do nothing)
            select 1 from bumped`,
          // As one text each: for a list, the driver would have to look at every quotation mark.
          [lines.map(({ id }) => id).join(","), lines.map(({ line }) => line).join("\n")],
        );
        if (bumped.length === 0) throw new Error(NO_NUMBER);
      }
      done();
      isAnyLeft = isMore;
    }
  }

  async *#all(batch: string, options: ReadAuditOptions): AsyncGenerator<AuditLine> {
    for (let after: unknown = FIRST; after !== undefined;) {
      const rows: Row[] = await this.#postgres.query(
        `select id, line from plugboard_audit where batch <= $1 and id > $2 order by id limit ${PAGE}`,
        [batch, after],
      );
      yield* linesIn(rows, options);
      after = options.signal?.aborted ? undefined : rows.at(-1)?.["id"];
    }
  }

  /** The newest pages that hold that many lines, and one more: the start of a call may be there. */
  async *#end(batch: string, last: number, options: ReadAuditOptions): AsyncGenerator<AuditLine> {
    const pages: AuditLine[][] = [];
    let found = 0;
    for (let before: unknown = LAST; before !== undefined;) {
      const rows: Row[] = await this.#postgres.query(
        `select id, line from plugboard_audit where batch <= $1 and id < $2 order by id desc limit ${PAGE}`,
        [batch, before],
      );
      const isEnough = found >= last;
      const lines = [...linesIn(rows.toReversed(), options)];
      found += lines.filter(({ type }) => type !== "start").length;
      pages.unshift(lines);
      before = isEnough || options.signal?.aborted ? undefined : rows.at(-1)?.["id"];
    }
    yield* pages.flat();
  }
}

function* linesIn(
  rows: readonly Row[],
  { filter = () => true, onDamage = () => {} }: ReadAuditOptions,
): Generator<AuditLine> {
  for (const { line: text } of rows) {
    const line = parseAuditLine(String(text));
    if (line === undefined) onDamage();
    else if (filter(line)) yield line;
  }
}
