// Reads response bodies within bounds: server-sent events (with the last id and the retry time) or one text.

import { createParser } from "eventsource-parser";
import { messageTooLarge } from "./errors.ts";

const LONGEST_ID = 1024;

export interface StreamPosition {
  /** The id of the last event, if the server sends ids. */
  lastId?: string;
  /** Milliseconds that the server asks us to wait before reconnecting. */
  retryMs?: number;
}

export interface StreamEvent {
  name: string;
  data: string;
}

/** Resolves when the stream ends; rejects when reading fails or an event exceeds `maxEventBytes`. */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  maxEventBytes: number,
  position: StreamPosition,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent({ event, data }) {
      if (data !== "") onEvent({ name: event ?? "message", data });
    },
    onRetry(ms) {
      position.retryMs = ms;
    },
    onError({ type }) {
      isTooLarge ||= type === "max-buffer-size-exceeded";
    },
  });
  const ids = new IdReader();
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    ids.read(text, position);
    parser.feed(text);
    if (isTooLarge) throw messageTooLarge(maxEventBytes);
  }
}

/** The parser drops events without data, but servers send those for their ids, to resume from there. */
class IdReader {
  #line = "";
  #pending: string | undefined;

  /** An id counts from the blank line that completes its event; an empty one resets the last id. */
  read(text: string, position: StreamPosition): void {
    const all = this.#line + text;
    // If the next chunk starts with a newline, both together are one line end.
    const held = all.endsWith("\r") ? "\r" : "";
    const lines = all.slice(0, all.length - held.length).split(/\r\n|\r|\n/);
    // No id is this long, so the rest of a longer line need not be kept.
    this.#line = (lines.pop() ?? "").slice(0, LONGEST_ID) + held;
    for (const line of lines) {
      if (line.startsWith("id:")) this.#pending = line.slice(line.startsWith("id: ") ? 4 : 3);
      if (line !== "" || this.#pending === undefined) continue;
      position.lastId = this.#pending === "" ? undefined : this.#pending;
      this.#pending = undefined;
    }
  }
}

export async function readText(
  response: { body: AsyncIterable<Buffer>; cancel: () => void },
  maxBytes: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= maxBytes) continue;
    response.cancel();
    throw messageTooLarge(maxBytes);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}
