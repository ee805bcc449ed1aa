// The lines about calls that are about to be sent, as bytes for one write. A call waits for its line, so the line is
// not put together as text: everything but its id and time is ready, and those change in place.

import { type AuditRecord, describeArguments, isoTime } from "./record.ts";

const ZEROS = "0000000000";
const TIME_LENGTH = "2026-11-16T03:20:00.000Z".length;
const ZERO = 0x30;
const NINE = 0x39;

/** Enough for two hundred lines. */
const USUAL_BYTES = 32 * 1024;
/** After more calls than this in one turn, the memory is given back. */
const MOST_BYTES_KEPT = 1024 * 1024;

export class StartLines {
  /** `prefix` tells the ids from those of other processes in the same file. */
  readonly #prefix: string;
  #count = 0;
  /** The beginning of a line, up to its time. */
  readonly #head: Buffer;
  /** Where its id ends and where its time begins. */
  readonly #idEnd: number;
  readonly #timeAt: number;
  #time = Number.NaN;
  #bytes = Buffer.allocUnsafeSlow(USUAL_BYTES);
  #length = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
    const upToId = `{"type":"start","id":"${this.idOf(0)}`;
    const upToTime = `${upToId}","time":"`;
    this.#idEnd = upToId.length;
    this.#timeAt = upToTime.length;
    this.#head = Buffer.from(`${upToTime}${" ".repeat(TIME_LENGTH)}",`);
  }

  /** The lines are in its first `length` bytes until `clear` is called. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a line, to which the line for the end of the call will refer. */
  add(record: AuditRecord): void {
    this.#count += 1;
    record.startNumber = this.#count;
    this.#countUp();
    this.#setTime(record.time);
    const head = this.#head;
    const end = endOf(record);
    const endAt = this.#length + head.length;
    const length = endAt + end.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(head, this.#length);
    this.#bytes.set(end, endAt);
    this.#length = length;
  }

  /** The id of a line by its number. */
  idOf(number: number): string {
    const digits = String(number);
    return `${this.#prefix}-${ZEROS.slice(digits.length)}${digits}`;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_BYTES_KEPT) this.#bytes = Buffer.allocUnsafeSlow(USUAL_BYTES);
  }

  #countUp(): void {
    const head = this.#head;
    let at = this.#idEnd - 1;
    for (; head[at] === NINE; at -= 1) head[at] = ZERO;
    head[at] = (head[at] ?? ZERO) + 1;
  }

  /** Most calls share their millisecond with the one before. */
  #setTime(ms: number): void {
    if (ms === this.#time) return;
    this.#time = ms;
    this.#head.write(isoTime(ms), this.#timeAt, TIME_LENGTH, "latin1");
  }

  #grow(needed: number): void {
    const more = Buffer.allocUnsafeSlow(2 * needed);
    this.#bytes.copy(more, 0, 0, this.#length);
    this.#bytes = more;
  }
}

/** Has the arguments only where the configuration asks for them: hashing them takes as long as all the rest. */
function endOf({ of, args: kept }: AuditRecord): Buffer {
  if (of.redact === undefined) return of.startEnd;
  const { arguments: args } = describeArguments(kept, of.redact);
  if (args === undefined) return of.startEnd;
  return Buffer.from(`${of.json},"arguments":${JSON.stringify(args)}}\n`);
}
