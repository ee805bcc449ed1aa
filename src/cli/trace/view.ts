// How a trace looks to a person: a line for each message, with the time, who sent it, what it is, and the beginning of
// what is in it; or all of it on several lines. Nothing in it can move the cursor or hide.

import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { TraceEntry, TracedCut, TracedMessage } from "../../core/types/trace.ts";
import { byteSize, duration, oneLine, plural } from "../../util/text.ts";
import { escapedJson, escapedJsonLines, visible } from "../../util/visible.ts";
import { cut } from "../terminal/width.ts";
import type { OutputView, Tone } from "../terminal/terminal.ts";

export interface TraceViewOptions extends Pick<OutputView, "width" | "paint"> {
  /** Whether symbols beyond ASCII display correctly. */
  unicode: boolean;
  isFull: boolean;
}

/** How much of a message is on its line where no screen limits it. */
const SHORT = 200;
/** A line of a narrow screen still has this much. */
const SHORTEST = 24;

interface Line {
  mark: string;
  tone: Tone;
  /** What it is: `tools/call #3`. */
  what: string;
  /** What is in it. */
  detail?: string;
  isBad?: boolean;
  /** For `--full`. */
  body?: unknown;
}

export class TraceView {
  readonly #options: TraceViewOptions;
  #skipped = 0;

  constructor(options: TraceViewOptions) {
    this.#options = options;
  }

  lines(entry: TraceEntry): string[] {
    return this.withSkipped(entry).flatMap((each) => this.#linesOf(each));
  }

  /** Before the entry, how many were skipped, if any were. */
  withSkipped(entry: TraceEntry): TraceEntry[] {
    const count = this.#skipped;
    this.#skipped = 0;
    const { server, at } = entry;
    return count === 0 ? [entry] : [{ kind: "lost", server, at, count }, entry];
  }

  /** The entry is not shown, because nobody reads. How many there were is said with the next one. */
  skip(entry: TraceEntry): void {
    this.#skipped += entry.kind === "lost" ? entry.count : 1;
  }

  #linesOf(entry: TraceEntry): string[] {
    const { paint, width, isFull } = this.#options;
    const { mark, tone, what, detail = "", isBad = false, body } = this.#describe(entry);
    const time = timeOf(entry.at);
    const isWhole = isFull && body !== undefined;
    const room = width === undefined ? SHORT : width - time.length - mark.length - what.length - 3;
    const wanted = isWhole ? "" : cut(detail, Math.max(room, SHORTEST));
    const head = `${paint("dim", time)} ${paint(tone, mark)} ${isBad ? paint("red", what) : what}`;
    const line = wanted === "" ? head : `${head} ${paint("dim", wanted)}`;
    if (!isWhole) return [line];
    const text = typeof body === "string" ? visible(body) : escapedJsonLines(body);
    return [line, ...text.split("\n").map((each) => `  ${each}`)];
  }

  #describe(entry: TraceEntry): Line {
    const { unicode } = this.#options;
    const dot = unicode ? "·" : "-";
    switch (entry.kind) {
      case "message":
        return this.#message(entry);
      case "cut":
        return this.#cut(entry);
      case "noise":
        return {
          ...this.#from("server"),
          what: "not a message",
          isBad: true,
          detail: shown(entry),
        };
      case "http": {
        const { method, status, ms, contentType, session } = entry;
        const detail = [
          duration(ms),
          ...(contentType === undefined ? [] : [oneLine(contentType, 60)]),
          ...(session === undefined ? [] : [`session ${visible(session)}`]),
        ].join(", ");
        const what = `HTTP ${status} to ${method}`;
        return { ...this.#from("server"), what, isBad: status >= 400, detail };
      }
      case "stderr":
        return { mark: "!", tone: "yellow", what: "stderr", detail: shown(entry) };
      case "state": {
        const { state, text = "" } = entry;
        const isBad = state === "failed" || state === "backoff" || state === "needs-auth";
        const what = state === "backoff" ? "failed, will be tried again:" : state;
        return { mark: dot, tone: "bold", what, isBad, detail: shown({ text }) };
      }
      case "lost": {
        const { count } = entry;
        const what = `${plural(count, "line")} left out: more came than could be shown`;
        return { mark: dot, tone: "yellow", what };
      }
    }
  }

  #message(entry: TracedMessage): Line {
    const { message, from } = entry;
    const { id, method, params, result, error } = message;
    const number = typeof id === "string" || typeof id === "number" ? ` #${short(String(id))}` : "";
    const about = { ...this.#from(from), body: message };
    if (typeof method === "string") {
      return { ...about, what: `${short(method)}${number}`, detail: compact(params) };
    }
    const what = `${answerOf(entry)}${number}`;
    if (error !== undefined) {
      return {
        ...about,
        what: `${what} failed${took(entry)}`,
        isBad: true,
        detail: errorText(error),
      };
    }
    const isToolError = isJsonObject(result) && result["isError"] === true;
    const how = isToolError ? "answered with an error" : "answered";
    return {
      ...about,
      what: `${what} ${how}${took(entry)}`,
      isBad: isToolError,
      detail: compact(result),
    };
  }

  #cut(entry: TracedCut): Line {
    const { from, id, method, size, text } = entry;
    const number = id === undefined ? "" : ` #${short(String(id))}`;
    const answered = `${answerOf(entry)}${number} answered${took(entry)}`;
    const what = method === undefined ? answered : `${short(method)}${number}`;
    const note = `(${byteSize(size)}, cut)`;
    return { ...this.#from(from), what: `${what} ${note}`, detail: shown({ text }), body: text };
  }

  #from(sender: TracedMessage["from"]): Pick<Line, "mark" | "tone"> {
    const { unicode } = this.#options;
    if (sender === "board") return { mark: unicode ? "→" : "->", tone: "cyan" };
    return { mark: unicode ? "←" : "<-", tone: "green" };
  }
}

function answerOf({ answers }: Pick<TracedMessage, "answers">): string {
  return answers === undefined ? "a request" : short(answers);
}

function took({ ms }: Pick<TracedMessage, "ms">): string {
  return ms === undefined ? "" : ` in ${duration(ms)}`;
}

/** A method or an id, which is the server's word. */
function short(word: string): string {
  return visible(oneLine(word, 60));
}

/** `_meta` comes with every request of 2026-07-28, and says the same each time. */
function compact(value: unknown): string {
  if (!isJsonObject(value)) return value === undefined ? "" : escapedJson(value);
  const { _meta, ...rest } = value;
  const told: JsonObject = Object.keys(rest).length === 0 && _meta !== undefined ? {} : rest;
  return Object.keys(told).length === 0 ? "" : escapedJson(told).slice(0, 4 * 1024);
}

function errorText(error: unknown): string {
  if (!isJsonObject(error)) return escapedJson(error);
  const { code, message } = error;
  const parts = [code, message].filter((each) => ["string", "number"].includes(typeof each));
  return visible(oneLine(parts.map(String).join(" "), 1000));
}

function shown({ text }: { text: string }): string {
  return visible(oneLine(text, 2000));
}

/** `14:30:05.123`, in the reader's time zone. */
function timeOf(ms: number): string {
  const date = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, "0");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${time}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
