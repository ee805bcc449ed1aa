// Reads server-sent events within bounds, with the last id and the retry time.

import { createParser } from "eventsource-parser";
import { messageTooLarge } from "./errors.ts";

const LONGEST_ID = 1024;
/** More digits than a number holds would be no time at all, and more than a timer holds would be none to wait. */
const LONGEST_RETRY_MS = 3_600_000;

export interface StreamPosition {
  /** The id of the last event, if the server sends ids. */
  lastId?: string;
  /** Milliseconds that the server asks us to wait before reconnecting, an hour at most. */
  retryMs?: number;
}

export interface StreamEvent {
  name: string;
  data: string;
}

/**
 * Resolves when the stream ends; rejects when reading fails or an event exceeds `maxEventBytes`. Nothing more is read until
 * what `onEvent` returns has resolved.
 */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  maxEventBytes: number,
  position: StreamPosition,
  onEvent: (event: StreamEvent) => Promise<void> | undefined,
): Promise<void> {
  let isTooLarge = false;
  let taken: Promise<void> | undefined;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent({ event, data }) {
      if (data !== "") taken = onEvent({ name: event ?? "message", data }) ?? taken;
    },
    onRetry(ms) {
      position.retryMs = Math.min(ms, LONGEST_RETRY_MS);
    },
    onError({ type }) {
      isTooLarge ||= type === "max-buffer-size-exceeded";
    },
  });
  const ids = new IdReader();
  const ends = new LineEnds();
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = ends.unify(decoder.decode(chunk, { stream: true }));
    ids.read(text, position);
    parser.feed(text);
    if (isTooLarge) throw messageTooLarge(maxEventBytes);
    if (taken !== undefined) await taken;
    taken = undefined;
  }
}

/**
 * Makes LF of every line end: CR LF is one, and so is CR alone. The parser knows them all, but loses the end of an event where
 * a chunk ends with CR.
 */
class LineEnds {
  #isAfterCr = false;

  unify(text: string): string {
    if (text === "") return text;
    const rest = this.#isAfterCr && text.startsWith("\n") ? text.slice(1) : text;
    this.#isAfterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  }
}

/** The parser drops events without data, but servers send those for their ids, to resume from there. */
class IdReader {
  #line = "";
  #pending: string | undefined;

  /** An id counts from the blank line that completes its event; an empty one resets the last id. */
  read(text: string, position: StreamPosition): void {
    const lines = (this.#line + text).split("\n");
    // No id is this long, so the rest of a longer line need not be kept.
    this.#line = (lines.pop() ?? "").slice(0, LONGEST_ID);
    for (const line of lines) {
      if (line.startsWith("id:")) this.#pending = line.slice(line.startsWith("id: ") ? 4 : 3);
      if (line !== "" || this.#pending === undefined) continue;
      position.lastId = this.#pending === "" ? undefined : this.#pending;
      this.#pending = undefined;
    }
  }
}
