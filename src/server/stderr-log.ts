// A server's stderr: always drained, made plain, without secrets, bounded in the log, its tail kept for
// diagnostics.

import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import type { Clock } from "../util/clock.ts";
import { plainText, plural, truncate } from "../util/text.ts";

const MAX_LINE = 2000;
const TAIL_LINES = 40;
/** Lines logged per window; the rest of a flood is counted. */
const BURST = 200;
const WINDOW_MS = 10_000;

/** Takes secrets out of a text; `isCut` says that the text went on, so that a part of one counts too. */
export type Redact = (text: string, isCut?: boolean) => string;

export class StderrLog {
  readonly #clock: Clock;
  readonly #redact: Redact;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  readonly #tail: string[] = [];
  #partial = "";
  #overlong = false;
  #windowEnds = 0;
  #logged = 0;
  #suppressed = 0;

  constructor(
    stderr: Readable,
    clock: Clock,
    onLine: (line: string) => void,
    redact: Redact = (text) => text,
  ) {
    this.#clock = clock;
    this.#redact = redact;
    this.#onLine = onLine;
    stderr.on("data", (chunk: Buffer) => this.#push(this.#decoder.write(chunk)));
    stderr.on("end", () => this.#flush());
    stderr.on("error", () => this.#flush());
  }

  tail(): string[] {
    const rest = this.#clean(this.#partial, true);
    return rest === "" ? [...this.#tail] : [...this.#tail, rest];
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
    // Twice the length: what plainText removes does not count.
    if (this.#partial.length <= MAX_LINE * 2) return;
    this.#partial = this.#partial.slice(0, MAX_LINE * 2);
    this.#overlong = true;
  }

  #flush(): void {
    const line = this.#clean(this.#partial, this.#overlong);
    this.#partial = "";
    this.#overlong = false;
    if (line === "") return;
    this.#tail.push(line);
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
    this.#log(line);
  }

  #log(line: string): void {
    const now = this.#clock.monotonic();
    if (now >= this.#windowEnds) {
      if (this.#suppressed > 0) this.#onLine(`(${plural(this.#suppressed, "line")} left out)`);
      this.#windowEnds = now + WINDOW_MS;
      this.#logged = 0;
      this.#suppressed = 0;
    }
    if (this.#logged < BURST) {
      this.#logged += 1;
      this.#onLine(line);
    } else {
      this.#suppressed += 1;
    }
  }

  /** Redacted after it was made plain, or an escape inside a secret would hide it; and before it is cut. */
  #clean(line: string, isCut: boolean): string {
    return truncate(this.#redact(plainText(line).trimEnd(), isCut), MAX_LINE);
  }
}
