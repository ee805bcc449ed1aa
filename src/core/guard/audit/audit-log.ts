// Queues a record of every call and writes them in batches. Lines about calls that are about to be sent are written
// at once, those of one turn of the event loop a dozen at a time. If the disk is full or gone, records get lost, and calls go on.

import { randomBytes } from "node:crypto";
import type { SuspiciousResult } from "../../types/audit-entry.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { AuditSink, AuditTrail } from "../../types/shared-state.ts";
import { type Clock, systemClock, type Timer, within } from "../../../util/clock.ts";
import { type Deferred, deferred } from "../../../util/deferred.ts";
import { type AuditRecord, hashLarge, lostLine, suspiciousLine, toLine } from "./record.ts";
import { StartLines } from "./start-lines.ts";
import { reasonOf } from "../../../util/system-problem.ts";

export interface AuditLogOptions {
  trail: Pick<AuditTrail, "where" | "open">;
  clock?: Clock;
  logger?: Logger;
  /** Records that may wait to be written. */
  maxQueued?: number;
}

const MAX_QUEUED = 10_000;
/** Text that may wait to be written, if the disk hangs. */
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;
/** Calls come in bursts, and a write costs as much as many of them. */
const GATHER_MS = 50;
/** This many records are written without waiting for more. */
const GATHER_MOST = 1000;
/** Records made into lines in one go: about two milliseconds of work. */
const FORMAT_AT_ONCE = 500;
/** Lines about starts are written when they are this long together, a dozen or so, without waiting for more. */
const ENOUGH_STARTS = 2048;
/** Lines that become bytes in one go, in characters: each go costs as much as a line. */
const TOGETHER = 8 * 1024;
const BATCH_BYTES = 128 * 1024;
/** Records whose arguments are large and wait to be hashed, one after another. Further ones are written without a hash. */
const MOST_UNHASHED = 64;
const RETRY_MS = 1000;
const CLOSE_MS = 5000;

export class AuditLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #sink: AuditSink;
  readonly #where: string;
  readonly #maxQueued: number;
  #records: AuditRecord[] = [];
  /** How many wait until their arguments are hashed, and the last of them. */
  #unhashed = 0;
  #hashing: Promise<void> = Promise.resolve();
  /** The oldest first. */
  readonly #batches: Batch[] = [];
  /** How many lines the batches hold. */
  #lines = 0;
  #bytes = 0;
  #lost = 0;
  #timer: Timer | undefined;
  #isSoon = false;
  #writing: Promise<void> | undefined;
  /** Lines have been gathered for long enough while others were written. */
  #isDue = false;
  #isFailing = false;
  #isFlushing = false;
  #isClosed = false;
  #hasWarnedOfCrowding = false;
  /** About calls that have started; waiting for more of them, or for the end of the turn. */
  readonly #starts = new StartLines(randomBytes(4).toString("hex"));
  /** Calls that have started and not ended. */
  #running = 0;
  /** For the calls that wait for the lines about their start. */
  #startsWritten: Deferred<void> | undefined;
  /** Whether the lines that wait are written at the end of this turn. */
  #isTurnEnding = false;

  constructor({
    trail,
    clock = systemClock,
    logger = silentLogger,
    maxQueued = MAX_QUEUED,
  }: AuditLogOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#where = trail.where;
    this.#maxQueued = maxQueued;
    this.#sink = trail.open((error) => this.#warnOfCrowding(error));
  }

  /** Returns at once and never throws. */
  record(record: AuditRecord): void {
    if (record.startNumber !== undefined) this.#running -= 1;
    const { args, decision } = record;
    // A call that was refused costs no more because its arguments are large.
    if (
      args?.kind === "large" &&
      decision.verdict !== "refused" &&
      this.#unhashed < MOST_UNHASHED
    ) {
      this.#unhashed += 1;
      this.#hashing = this.#hashing.then(async () => {
        record.args = await hashLarge(args.args);
        this.#unhashed -= 1;
        this.#queue(record);
      });
      return;
    }
    this.#queue(record);
  }

  #queue(record: AuditRecord): void {
    if (this.#records.length + this.#lines >= this.#maxQueued) {
      this.#lost += 1;
      return;
    }
    this.#records.push(record);
    const waiting = this.#records.length + this.#lines;
    if (waiting % GATHER_MOST === 0) this.#soon();
    else this.#timer ??= this.#clock.later(GATHER_MS, () => this.#tick());
  }

  /** Undefined, or a promise that resolves, when the line about the start is written or could not be. */
  start(record: AuditRecord): undefined | Promise<void> {
    this.#starts.add(record);
    this.#running += 1;
    if (!this.#sink.isOpen) {
      this.#keepStarts();
      return this.#flushLines();
    }
    // Waiting for a tick would cost a single call more than the write itself.
    if (this.#running === 1 || this.#starts.length >= ENOUGH_STARTS) return this.#writeStarts();
    if (this.#startsWritten === undefined) {
      this.#startsWritten = deferred();
      this.#writeStartsLater();
    }
    return this.#startsWritten.promise;
  }

  /** After everything that this turn of the event loop still has to do, such as reading further requests. */
  #writeStartsLater(): void {
    if (this.#isTurnEnding) return;
    this.#isTurnEnding = true;
    setImmediate(() => {
      this.#isTurnEnding = false;
      if (this.#startsWritten !== undefined) void this.#writeStarts();
    });
  }

  /** Writes the lines of all calls that wait for theirs, and lets these calls go on. */
  #writeStarts(): undefined | Promise<void> {
    const waiting = this.#startsWritten;
    this.#startsWritten = undefined;
    const writing = this.#appendStarts();
    if (writing === undefined) waiting?.resolve();
    else if (waiting !== undefined) void writing.then(waiting.resolve);
    return writing;
  }

  /** Waits for the disk: a queued write takes far longer, and the call must not be sent before. */
  #appendStarts(): undefined | Promise<void> {
    const starts = this.#starts;
    if (starts.length === 0) return undefined;
    try {
      const writing = this.#sink.appendNow(starts.bytes, starts.length);
      if (writing !== undefined) return this.#afterStarts(writing);
      starts.clear();
    } catch (error) {
      this.#keepStarts();
      this.#onFailed(error);
    }
    return undefined;
  }

  /** For a sink that does not write at once. */
  #afterStarts(writing: Promise<void>): Promise<void> {
    const { bytes, length } = this.#starts;
    const lines = bytes.toString("utf8", 0, length);
    this.#starts.clear();
    return writing.catch((error: unknown) => {
      this.#keep(lines);
      this.#onFailed(error);
    });
  }

  #keepStarts(): void {
    const { bytes, length } = this.#starts;
    this.#keep(bytes.toString("utf8", 0, length));
    this.#starts.clear();
  }

  /** Like `record`, for something suspicious in a result. */
  suspect(found: Omit<SuspiciousResult, "type" | "time">): void {
    if (this.#records.length + this.#lines >= this.#maxQueued) {
      this.#lost += 1;
      return;
    }
    this.#keep(suspiciousLine(this.#clock.now(), found));
    this.#timer ??= this.#clock.later(GATHER_MS, () => this.#tick());
  }

  /** Resolves when all records are written, or could not be. */
  async flush(): Promise<void> {
    await this.#hashing;
    await this.#flushLines();
  }

  async #flushLines(): Promise<void> {
    this.#isFlushing = true;
    this.#format(Infinity);
    await this.#writing;
    await this.#write();
    this.#isFlushing = this.#isClosed;
  }

  /** Like `flush`, then closes the file. Waits for a limited time. A call that ends later is still recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await within(this.#clock, CLOSE_MS, this.flush());
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setImmediate(() => {
      this.#isSoon = false;
      this.#tick();
    });
  }

  #tick(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#format(FORMAT_AT_ONCE);
    if (this.#records.length > 0) this.#soon();
    this.#isDue = true;
    void this.#write();
  }

  /** Makes lines even if the disk does not keep up, so that the arguments can be freed. */
  #format(most: number): void {
    let text = "";
    let lines = 0;
    for (const record of this.#records.splice(0, most)) {
      const { startNumber } = record;
      const startId = startNumber === undefined ? undefined : this.#starts.idOf(startNumber);
      text += toLine(record, startId);
      lines += 1;
      if (text.length < TOGETHER) continue;
      this.#keep(text, lines);
      text = "";
      lines = 0;
    }
    if (lines > 0) this.#keep(text, lines);
  }

  #keep(text: string, lines = 1): void {
    if (this.#bytes > MAX_QUEUED_BYTES) {
      this.#lost += lines;
      return;
    }
    let batch = this.#batches.at(-1);
    if (batch === undefined || !hasRoom(batch, text)) {
      batch = newBatch(text);
      this.#batches.push(batch);
    }
    // Bytes take less memory: a string that was joined from twenty parts keeps all twenty.
    const written = batch.bytes.write(text, batch.length);
    batch.length += written;
    batch.lines += lines;
    this.#lines += lines;
    this.#bytes += written;
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Writes what is queued and the batches that fill up meanwhile. The rest waits for the timer. Never rejects. */
  async #writeAll(): Promise<void> {
    const isAnyLeft = (): boolean => this.#lines > 0 || this.#lost > 0;
    for (let isFirst = true; isAnyLeft(); isFirst = false) {
      // A write costs as much as many lines, so a batch that is still filling up waits.
      const isWhole = isFirst || this.#isDue || this.#isFlushing || this.#batches.length > 1;
      if (!isWhole) {
        this.#timer ??= this.#clock.later(GATHER_MS, () => this.#tick());
        return;
      }
      if (this.#batches.length <= 1) this.#isDue = false;
      if (!(await this.#writeBatch())) return;
    }
    if (this.#isClosed) await this.#sink.close();
  }

  async #writeBatch(): Promise<boolean> {
    const batch = this.#batches[0];
    if (batch !== undefined) batch.isSealed = true;
    const lost = this.#lost;
    const lines = batch?.bytes.subarray(0, batch.length) ?? NOTHING;
    const missing = lost > 0 ? Buffer.from(lostLine(this.#clock.now(), lost)) : NOTHING;
    try {
      await this.#sink.append(lost > 0 ? Buffer.concat([lines, missing]) : lines);
    } catch (error) {
      this.#onFailed(error);
      return false;
    }
    this.#isFailing = false;
    this.#lost -= lost;
    if (batch === undefined) return true;
    this.#batches.shift();
    this.#lines -= batch.lines;
    this.#bytes -= batch.length;
    return true;
  }

  #onFailed(error: unknown): void {
    this.#timer ??= this.#clock.later(RETRY_MS, () => this.#tick());
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#logger.warn("the audit cannot be written; calls go on without it", {
      file: this.#where,
      reason: reasonOf(error),
    });
  }

  #warnOfCrowding(error: unknown): void {
    if (this.#hasWarnedOfCrowding) return;
    this.#hasWarnedOfCrowding = true;
    this.#logger.warn("the audit file is full and cannot be rotated; it keeps growing", {
      file: this.#where,
      reason: reasonOf(error),
    });
  }
}

/** Whole lines, as they are written. */
interface Batch {
  bytes: Buffer;
  /** How many of the bytes hold lines. */
  length: number;
  lines: number;
  /** It is being written, so nothing may be added. */
  isSealed: boolean;
}

/** UTF-8 takes at most three bytes per UTF-16 unit. */
const BYTES_PER_UNIT = 3;

function hasRoom({ bytes, length, isSealed }: Batch, text: string): boolean {
  return !isSealed && length + text.length * BYTES_PER_UNIT <= bytes.length;
}

function newBatch(text: string): Batch {
  const size = Math.max(BATCH_BYTES, text.length * BYTES_PER_UNIT);
  return { bytes: Buffer.allocUnsafe(size), length: 0, lines: 0, isSealed: false };
}

const NOTHING = Buffer.alloc(0);
