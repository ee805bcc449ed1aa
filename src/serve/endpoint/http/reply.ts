// The response to one POST: a single JSON text, or a stream of events from the first message that comes before the
// answer. A client that does not read is cut off before it fills the memory.

import type { ServerResponse } from "node:http";
import type { JsonObject } from "../../../core/types/json.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";

/** How much may wait for a slow reader. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** Proxies close connections on which nothing has moved for a minute. */
export const KEEP_ALIVE_MS = 25_000;

/** For a stream of events. Without the last two, proxies collect events before they pass them on. */
export const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

export type Headers = Readonly<Record<string, string>>;

export class Reply {
  readonly #response: ServerResponse;
  readonly #headers: Headers;
  /** Whether the client accepts a stream. Without one, what comes before the answer is lost. */
  readonly #canStream: boolean;
  #isStream = false;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, options: { headers?: Headers; canStream: boolean }) {
    this.#response = response;
    this.#headers = options.headers ?? {};
    this.#canStream = options.canStream;
  }

  get isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  /** Begins the stream. Its first bytes tell the client that it is there. */
  openStream(): void {
    if (this.#isStream || this.isOver) return;
    this.#isStream = true;
    this.#response.writeHead(200, { ...this.#headers, ...STREAM_HEADERS });
    this.#response.write(": open\n\n");
    this.#keepAlive = setInterval(() => this.#write(": keep-alive\n\n"), KEEP_ALIVE_MS).unref();
    this.#response.once("close", () => clearInterval(this.#keepAlive));
  }

  /** Sends a message before the answer. */
  send(message: JsonObject): void {
    if (!this.#canStream || this.isOver) return;
    this.openStream();
    this.#write(event(message));
  }

  /** Sends the answer, which ends the response. */
  end(status: number, message: JsonObject): void {
    if (this.isOver) return;
    if (this.#isStream) {
      clearInterval(this.#keepAlive);
      this.#response.end(event(message));
      return;
    }
    const text = jsonOfAnyDepth(message);
    this.#response.writeHead(status, {
      ...this.#headers,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
    });
    this.#response.end(text);
  }

  /** Ends a stream that has no answer. */
  close(): void {
    clearInterval(this.#keepAlive);
    if (!this.isOver) this.#response.end();
  }

  #write(text: string): void {
    if (this.isOver) return;
    this.#response.write(text);
    if (this.#response.writableLength > MOST_UNREAD) this.#response.destroy();
  }
}

function event(message: JsonObject): string {
  return `event: message\ndata: ${jsonOfAnyDepth(message)}\n\n`;
}
