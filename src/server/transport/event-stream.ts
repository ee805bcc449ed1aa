// Reads bodies: server-sent events (their data, the last id, how long to wait before coming back) or one
// text, both within bounds.

import { createParser } from "eventsource-parser";
import { PlugboardError } from "../../model/errors.ts";
import { byteSize } from "../../util/text.ts";

const LONGEST_ID = 1024;

export interface StreamPosition {
  /** The id of the last event, where the server gives them. */
  lastId: string | undefined;
  /** Milliseconds the server asks to wait before reconnecting. */
  retryMs: number | undefined;
}

export interface StreamEvent {
  name: string;
  data: string;
}

/** Resolves when the stream ends; rejects when reading fails or an event is above `maxEventBytes`. */
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
    if (isTooLarge) throw tooLarge(maxEventBytes);
  }
}

/** The parser drops events without data, but servers send those for their ids: to be resumed from there. */
class IdReader {
  #line = "";
  #pending: string | undefined;

  /** An id counts with the blank line that completes its event; an empty one takes the last one back. */
  read(text: string, position: StreamPosition): void {
    const all = this.#line + text;
    // A newline may follow in the next chunk, and then they are one end of a line.
    const held = all.endsWith("\r") ? "\r" : "";
    const lines = all.slice(0, all.length - held.length).split(/\r\n|\r|\n/);
    // No id is this long: a line that is goes on without having to be held.
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
    throw tooLarge(maxBytes);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function tooLarge(maxBytes: number): PlugboardError {
  return new PlugboardError(
    "MESSAGE_TOO_LARGE",
    `the server sent a message of more than ${byteSize(maxBytes)} (maxMessageBytes)`,
    { hint: "raise maxMessageBytes for this server, or ask it for less at a time" },
  );
}
