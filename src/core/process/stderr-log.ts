// Reads the stderr of a server or an agent, always to the end, because a full pipe would block it. Its lines go to the
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
/** How many characters of the lines before are searched for the beginning of a secret. */
const MAX_BEFORE = 2048;
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
  /** The end of what was written before the line that is read now: a secret may go over several lines. */
  #before = "";
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
    stderr.on("end", () => this.#flush());
    stderr.on("error", () => this.#flush());
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
    const rest = this.#clean(plainLine(this.#partial));
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

  #flush(): void {
    const plain = plainLine(this.#partial);
    const line = this.#clean(plain);
    this.#partial = "";
    this.#overlong = false;
    if (plain !== "") this.#before = `${this.#before}\n${plain}`.slice(-MAX_BEFORE);
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

  /**
   * Redacts before the line is cut. Every line counts as one that goes on, since a secret that begins at its end may
   * end in the next. A line within a secret becomes one with the line where the secret begins, and is told once.
   */
  #clean(plain: string): string {
    if (plain === "") return "";
    const told = this.#redact(`${this.#before}\n${plain}`, true);
    const line = told.slice(told.lastIndexOf("\n") + 1);
    const shown = truncate(line, MAX_LINE);
    const isContinued = shown === this.#kept.at(-1) && line !== this.#redact(plain, true);
    return isContinued ? "" : shown;
  }
}

/** Without escapes, since one inside a secret would hide it. */
function plainLine(line: string): string {
  return plainText(line).trimEnd();
}
