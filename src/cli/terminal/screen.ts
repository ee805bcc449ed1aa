// Everything that is printed goes through here, results to stdout and the rest to stderr, so that lines do not
// end up in the middle of rows that redraw themselves.

import { PlugboardError } from "../../core/types/errors.ts";
import { tryParseJson } from "../../core/types/json.ts";
import { jsonOfAnyDepth } from "../../util/canonical-json.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { plainText } from "../../util/text.ts";
import type { CliOutput } from "../io.ts";
import { readableJson, visibleJson } from "./json.ts";
import type { Terminal } from "./terminal.ts";

export interface Frame {
  /** The current character of the spinner. */
  spinner: string;
  /** A row that is wider wraps, and could not be erased. */
  width: number;
  /** Rows that fit. */
  height: number;
}

type WrapLine = (line: string, width: number | undefined) => string[];

export type RenderRows = (frame: Frame) => string[];

export interface LiveOptions {
  /** How often the rows are drawn. */
  everyMs?: number;
  /**
   * The rows stay for as long as the command runs, with the lines above them. When the window changes its size, both
   * are drawn anew: nobody knows how the terminal has wrapped the old ones.
   */
  isWhole?: boolean;
}

export interface LiveRows {
  /** Removes the rows. Idempotent. */
  stop(): void;
}

const REDRAW_MS = 80;
/** Work that ends sooner shows no rows: they would only flicker. */
const FIRST_DRAW_MS = 120;
/** Lines that are drawn again when the window changes its size. */
const KEPT_LINES = 200;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER = ["|", "/", "-", "\\"];

export class Screen {
  readonly terminal: Terminal;
  readonly #stdout: CliOutput;
  readonly #stderr: CliOutput;
  readonly #clock: Clock;
  readonly #wrap: WrapLine;
  #render: RenderRows | undefined;
  #timer: Timer | undefined;
  #drawn = 0;
  #frame = 0;
  readonly #pauses = new Set<object>();
  /** The one that a person is being asked. */
  #question: string | undefined;
  #everyMs = REDRAW_MS;
  /** What was drawn last, to leave alone what has not changed. */
  #shown = "";
  /** The last lines, as they were given. Undefined where they need not be drawn again. */
  #lines: string[] | undefined;

  /** `wrap` breaks a line for a terminal, which is what width.ts does. */
  constructor(
    stdout: CliOutput,
    stderr: CliOutput,
    terminal: Terminal,
    clock: Clock,
    wrap: WrapLine = (line) => [line],
  ) {
    this.#wrap = wrap;
    this.terminal = terminal;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#clock = clock;
  }

  /** Prints a result. */
  out(text: string): void {
    this.#erase();
    this.#stdout.write(text);
  }

  /** Prints a server's text as it is; on a terminal, JSON is indented, and no character is there that it would obey. */
  text(text: string): void {
    const { isTerminal, paint } = this.terminal.out;
    if (!isTerminal) this.out(text);
    else this.out(isJson(text) ? `${readableJson(text, paint)}\n` : plainText(text));
  }

  /** Prints lines for a person; on a terminal, broken between words. */
  lines(lines: readonly string[]): void {
    const { isTerminal, width } = this.terminal.out;
    const shown = isTerminal ? lines.flatMap((line) => this.#wrap(line, width)) : lines;
    if (shown.length > 0) this.out(`${shown.join("\n")}\n`);
  }

  json(value: unknown): void {
    const { isTerminal, paint } = this.terminal.out;
    this.out(`${isTerminal ? readableJson(json(value), paint) : json(value, 2)}\n`);
  }

  /** Prints one of many values, on one line. */
  jsonLine(value: unknown): void {
    this.out(`${json(value)}\n`);
  }

  /** Prints a line to stderr, above rows and a question that waits; on a terminal, broken between words. */
  note(line: string): void {
    const isDrawn = this.#drawn > 0;
    this.#erase();
    const [before, after] = this.#question === undefined ? ["", ""] : ["\n", this.#question];
    this.#stderr.write(`${before}${this.#wrapped(line).join("\n")}\n${after}`);
    if (isDrawn) this.#draw();
    if (this.#lines === undefined) return;
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  /** Shows rows on stderr until they are stopped. Does nothing where stderr is not a terminal. */
  live(render: RenderRows, { everyMs = REDRAW_MS, isWhole = false }: LiveOptions = {}): LiveRows {
    if (!this.terminal.live) return { stop() {} };
    this.#render = render;
    this.#everyMs = everyMs;
    this.#schedule(FIRST_DRAW_MS);
    const onResize = (): void => this.#redrawWhole();
    if (isWhole) {
      this.#lines = [];
      this.#stderr.on("resize", onResize);
    }
    return {
      stop: () => {
        if (this.#render !== render) return;
        this.#stderr.off("resize", onResize);
        this.#lines = undefined;
        this.#render = undefined;
        this.#timer?.cancel();
        this.#erase();
      },
    };
  }

  /**
   * Shows no rows while a person reads and answers, neither those of now nor those that begin meanwhile. The returned
   * function shows them again, once every pause has ended. Idempotent.
   */
  pauseLive(): () => void {
    const pause = {};
    this.#pauses.add(pause);
    this.#timer?.cancel();
    this.#erase();
    return () => {
      if (!this.#pauses.delete(pause) || this.#render === undefined) return;
      this.#schedule(FIRST_DRAW_MS);
    };
  }

  /** Shows a question, after which a person types. The returned function is for when it is answered. */
  ask(question: string): () => void {
    const resume = this.pauseLive();
    this.#question = question;
    this.#stderr.write(question);
    return () => {
      this.#question = undefined;
      resume();
    };
  }

  #schedule(ms: number): void {
    this.#timer?.cancel();
    if (this.#pauses.size > 0) return;
    this.#timer = this.#clock.later(ms, () => {
      this.#draw();
      this.#schedule(this.#everyMs);
    });
  }

  #wrapped(line: string): string[] {
    // As wide as the window is now; what stdout is was decided at the start.
    const { width } = this.terminal.err;
    const current = width === undefined ? undefined : this.#stderr.columns || width;
    return line.split("\n").flatMap((each) => this.#wrap(each, current));
  }

  #redrawWhole(): void {
    const rows = this.#stderr.rows || 24;
    const lines = (this.#lines ?? []).flatMap((line) => this.#wrapped(line));
    // The rows come below, and take the room that they need.
    const above = lines.slice(-Math.max(0, rows - this.#drawn - 1));
    this.#stderr.write(`\u001b[H\u001b[2J${above.map((line) => `${line}\n`).join("")}`);
    const wasDrawn = this.#drawn > 0;
    this.#drawn = 0;
    if (wasDrawn) this.#draw();
  }

  #draw(): void {
    const frames = this.terminal.unicode ? SPINNER : PLAIN_SPINNER;
    const spinner = frames[this.#frame % frames.length] ?? "";
    this.#frame += 1;
    const width = (this.#stderr.columns || 80) - 1;
    const height = Math.max(1, (this.#stderr.rows || 24) - 1);
    const rows = fitHeight(this.#render?.({ spinner, width, height }) ?? [], height);
    const text = rows.map((row) => `\u001b[2K${row}\n`).join("");
    if (this.#drawn > 0 && text === this.#shown) return;
    this.#shown = text;
    this.#stderr.write(`${this.#toTop()}${text}\u001b[J`);
    this.#drawn = rows.length;
  }

  #erase(): void {
    if (this.#drawn === 0) return;
    this.#stderr.write(`${this.#toTop()}\u001b[J`);
    this.#drawn = 0;
  }

  #toTop(): string {
    return this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\r`;
  }
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && tryParseJson(text) !== undefined;
}

/** A row that scrolls out of the window could not be erased. */
function fitHeight(rows: readonly string[], height: number): string[] {
  if (rows.length <= height) return [...rows];
  const shown = rows.slice(0, height - 1);
  return [...shown, `… and ${rows.length - shown.length} more`];
}

/** Nothing in it is hidden from a reader. */
function json(value: unknown, indent?: number): string {
  try {
    return visibleJson(jsonOfAnyDepth(value, indent));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new PlugboardError("INVALID_RESULT", "the output is too large to be written as JSON", {
      cause,
    });
  }
}
