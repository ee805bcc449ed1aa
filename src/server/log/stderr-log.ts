// Reads a server's stderr, always to the end, because a full pipe would block the server. Its lines go to the
// log as plain text, without secrets and in bounded number; the last ones are kept, for `status` and to find out
// why the server failed.

import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import type { Clock } from "../../util/clock.ts";
import { plainText, plural, truncate } from "../../util/text.ts";
import { LogLimit } from "./log-limit.ts";

const MAX_LINE = 2000;
const TAIL_LINES = 40;
/** The reason for a failure may be far above the end: some errors print a page of details. */
const KEPT_LINES = 200;
const KEPT_CHARACTERS = 128 * 1024;
const LIMIT = { maxLines: 200, windowMs: 10_000 };

/** Removes secrets from a text; `isCut` says that the text went on, so that a part of a secret counts too. */
export type RedactText = (text: string, isCut?: boolean) => string;

export class StderrLog {
  readonly #limit: LogLimit;
  readonly #redact: RedactText;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  readonly #kept: string[] = [];
  #keptCharacters = 0;
  #count = 0;
  #partial = "";
  #overlong = false;

  constructor(
    stderr: Readable,
    clock: Clock,
    onLine: (line: string) => void,
    redact: RedactText = (text) => text,
  ) {
    const onLeftOut = (count: number): void => onLine(`(${plural(count, "line")} left out)`);
    this.#limit = new LogLimit({ ...LIMIT, clock, onLeftOut });
    this.#redact = redact;
    this.#onLine = onLine;
    stderr.on("data", (chunk: Buffer) => this.#push(this.#decoder.write(chunk)));
    // A line without an end may be one that the server could not write to its end.
    stderr.on("end", () => this.#flush(true));
    stderr.on("error", () => this.#flush(true));
  }

  /** The last lines, for a person. */
  tail(): string[] {
    return this.lines().slice(-TAIL_LINES);
  }

  /** How many lines there were so far. */
  get count(): number {
    return this.#count;
  }

  /** What is kept, without the first `skip` lines that there ever were. */
  lines(skip = 0): string[] {
    const rest = this.#clean(this.#partial, true);
    const gone = this.#count - this.#kept.length;
    const lines = this.#kept.slice(Math.max(0, skip - gone));
    return rest === "" ? lines : [...lines, rest];
  }

  #push(text: string): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.#hold(text.slice(from, at));
      this.#flush();
      from = at + 1;
    }
    this.#hold(text.slice(from));
  }

  #hold(text: string): void {
    if (this.#overlong) return;
    this.#partial += text;
    // Twice the limit, to leave room for what plainText removes.
    if (this.#partial.length <= MAX_LINE * 2) return;
    this.#partial = this.#partial.slice(0, MAX_LINE * 2);
    this.#overlong = true;
  }

  #flush(isCut = this.#overlong): void {
    const line = this.#clean(this.#partial, isCut);
    this.#partial = "";
    this.#overlong = false;
    if (line === "") return;
    this.#keep(line);
    if (this.#limit.take()) this.#onLine(line);
  }

  #keep(line: string): void {
    this.#kept.push(line);
    this.#count += 1;
    this.#keptCharacters += line.length;
    while (this.#kept.length > KEPT_LINES || this.#keptCharacters > KEPT_CHARACTERS) {
      this.#keptCharacters -= this.#kept.shift()?.length ?? 0;
    }
  }

  /** Redacts after plainText, because an escape inside a secret would hide it, and before the line is cut. */
  #clean(line: string, isCut: boolean): string {
    return truncate(this.#redact(plainText(line).trimEnd(), isCut), MAX_LINE);
  }
}
