// One connection between a gateway and an attached command. Each side sends requests, updates to a request that it is
// answering, cancellations and notifications: one JSON text on one line each. Imports little, since a single warm call
// pays for every module.

import type { Socket } from "node:net";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import { LineReader } from "../../util/line-reader.ts";
import { errorFromWire, errorToWire } from "./wire-error.ts";

/**
 * A line: four times what a server may send by default. Whoever leaves more than `unsent` unread is cut off; a command
 * with many large results at once stays below.
 */
const MAX_BYTES = { line: 256 * 1024 ** 2, unsent: 256 * 1024 ** 2 };
/** With more than this unsent, nothing is sent that can be left out, and a gateway reads no further requests. */
const FULL_BYTES = 1024 ** 2;
const MOST_REQUESTS = 10_000;
const LARGEST_PIECE = 16 * 1024;

export type LinkEnd =
  /** This side has closed it. */
  | { kind: "closed" }
  /** The other side has closed it, or its process is gone. */
  | { kind: "gone" }
  /** The other side broke the rules of the channel. */
  | { kind: "broken"; reason: string };

export interface LinkOptions {
  /** Who is at the other end, as the subject of a sentence. */
  peer: string;
  /** Do not read while the other side does not read. Only one side may do that: otherwise both could wait for ever. */
  waitsForReader?: boolean;
  /** What was read from the socket already, after the greeting. */
  rest?: Buffer;
  /** The longest line that is read, and the most that may be unsent before one more message. */
  maxBytes?: { line: number; unsent: number };
}

/** A request of the other side, while it is being answered. */
export interface Incoming {
  /** Aborts when the other side cancels the request or the link ends. */
  readonly signal: AbortSignal;
  /** Sends something before the answer. Left out while the other side does not read. */
  update: (value: unknown) => void;
}

/** Returns the answer, or a promise of it. What it throws becomes the error that the other side gets. */
export type RequestHandler = (params: JsonObject, incoming: Incoming) => unknown;
export type NotificationHandler = (params: JsonObject) => void;

export interface RequestOptions {
  /** Aborting it cancels the request; the other side still answers it. */
  signal?: AbortSignal | undefined;
  onUpdate?: ((value: unknown) => void) | undefined;
}

/** Called once, with the answer or the error, while the line with it is read: before anything that follows it. */
export interface Answered {
  answer: (result: unknown) => void;
  fail: (error: PlugboardError) => void;
}

interface Pending extends Answered {
  onUpdate: ((value: unknown) => void) | undefined;
  release: (() => void) | undefined;
}

export class Link {
  readonly closed: Promise<LinkEnd>;
  readonly #socket: Socket;
  readonly #options: LinkOptions;
  readonly #maxBytes: { line: number; unsent: number };
  readonly #reader: LineReader;
  readonly #requestHandlers = new Map<string, RequestHandler>();
  readonly #notificationHandlers = new Map<string, NotificationHandler>();
  readonly #pending = new Map<number, Pending>();
  readonly #incoming = new Map<number, IncomingRequest>();
  readonly #waiting = new Set<() => void>();
  /** Lines that came in one piece with others, when the other side did not read any more. */
  readonly #unread: string[] = [];
  readonly #flush = (): void => {
    const text = this.#outbox;
    this.#outbox = "";
    if (text !== "") this.#socket.write(text);
  };
  /** What was written in this turn of the event loop: it goes out in one piece. */
  #outbox = "";
  #lastId = 0;
  #end: LinkEnd | undefined;
  #onClosed: (end: LinkEnd) => void = () => {};

  constructor(socket: Socket, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.#reader = new LineReader({
      maxBytes: this.#maxBytes.line,
      onLine: (line) => {
        if (this.#unread.length > 0 || this.#isWaiting) this.#unread.push(line);
        else this.#receive(line);
      },
      onOverflow: (bytes) => this.#break(`it sent a line of ${bytes} bytes`),
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    socket.on("drain", () => this.#drained());
    // "close" follows, and says all that matters: nobody answers any more.
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => this.#ended({ kind: "gone" }));
    if (socket.destroyed) this.#ended({ kind: "gone" });
    else if (options.rest !== undefined && options.rest.length > 0) {
      // Later, so that whoever has the link can set its handlers first.
      socket.pause();
      const { rest } = options;
      queueMicrotask(() => {
        this.#reader.push(rest);
        socket.resume();
      });
    } else socket.resume();
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** How many requests of the other side are being answered. */
  get inFlight(): number {
    return this.#incoming.size;
  }

  /** The other side does not keep up: leave out what can be left out. */
  get isFull(): boolean {
    return this.#socket.writableLength > FULL_BYTES;
  }

  /** Runs the task when the other side has read what it was sent; at once if it has. */
  whenRoom(task: () => void): void {
    if (this.isFull) this.#waiting.add(task);
    else task();
  }

  handle(method: string, handler: RequestHandler): void {
    this.#requestHandlers.set(method, handler);
  }

  hear(method: string, handler: NotificationHandler): void {
    this.#notificationHandlers.set(method, handler);
  }

  /** Rejects with a PlugboardError: the other side's own, CANCELLED, or SERVER_UNAVAILABLE if the link ends. */
  request(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.start(method, params, { answer: resolve, fail: reject }, options);
    });
  }

  /** Like `request`, without a promise of its own. */
  start(
    method: string,
    params: object,
    { answer, fail }: Answered,
    { signal, onUpdate }: RequestOptions = {},
  ): void {
    if (this.#end !== undefined) return fail(this.#unavailable("is gone", true));
    if (signal?.aborted) return fail(cancelled());
    const id = (this.#lastId += 1);
    let text: string;
    try {
      text = JSON.stringify({ id, method, params });
    } catch (error) {
      return fail(notJson(error));
    }
    let release: (() => void) | undefined;
    if (signal !== undefined) {
      const cancel = (): void => this.#write(`{"cancel":${id}}`);
      signal.addEventListener("abort", cancel, { once: true });
      release = () => signal.removeEventListener("abort", cancel);
    }
    this.#pending.set(id, { answer, fail, onUpdate, release });
    this.#write(text);
  }

  notify(method: string, params: object): void {
    if (this.#end === undefined) this.#write(JSON.stringify({ method, params }));
  }

  /** Sends what is unsent, then ends the link. */
  close(): void {
    if (this.#end !== undefined) return;
    this.#flush();
    this.#ended({ kind: "closed" });
    this.#socket.destroySoon();
  }

  /** Ends the link at once; what is unsent is lost. */
  destroy(): void {
    this.#ended({ kind: "closed" });
    this.#socket.destroy();
  }

  #receive(line: string): void {
    if (this.#end !== undefined) return;
    const message = tryParseJson(line);
    if (!isJsonObject(message)) return this.#break("it sent a line that is not a JSON object");
    const { id, method } = message;
    if (typeof method === "string") {
      const params = isJsonObject(message.params) ? message.params : {};
      if (id === undefined) this.#hear(method, params);
      else this.#answer(id, method, params);
    } else if (typeof id === "number") {
      this.#answered(id, message);
    } else if (typeof message.cancel === "number") {
      this.#incoming.get(message.cancel)?.abort();
    } else {
      this.#break("it sent a line that is no message of the channel");
    }
  }

  #hear(method: string, params: JsonObject): void {
    try {
      this.#notificationHandlers.get(method)?.(params);
    } catch (error) {
      this.#break(`its notification '${method.slice(0, 100)}' could not be read: ${String(error)}`);
    }
  }

  #answered(id: number, message: JsonObject): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if ("update" in message) return pending.onUpdate?.(message.update);
    this.#pending.delete(id);
    pending.release?.();
    if (message.error === undefined) pending.answer(message.result);
    else pending.fail(errorFromWire(message.error));
  }

  #answer(id: unknown, method: string, params: JsonObject): void {
    if (typeof id !== "number" || !Number.isSafeInteger(id) || this.#incoming.has(id)) {
      return this.#break("it sent a request without an id of its own");
    }
    const handler = this.#requestHandlers.get(method);
    if (handler === undefined) {
      return this.#refuse(id, unsupported(`there is no '${method.slice(0, 100)}' on this channel`));
    }
    if (this.#incoming.size >= MOST_REQUESTS) {
      const message = `${MOST_REQUESTS} requests are being answered already; this one has not run`;
      const details = { hasNotRun: true, quote: "" };
      return this.#refuse(id, new PlugboardError("SERVER_UNAVAILABLE", message, details));
    }
    const incoming = new IncomingRequest((value) => {
      if (!this.isFull) this.#write(JSON.stringify({ id, update: value }));
    });
    this.#incoming.set(id, incoming);
    try {
      const result = handler(params, incoming);
      if (result instanceof Promise) {
        result.then(
          (value) => this.#settle(id, value),
          (error: unknown) => this.#refuse(id, error),
        );
      } else this.#settle(id, result);
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #settle(id: number, result: unknown): void {
    let text: string;
    try {
      text = JSON.stringify({ id, result });
    } catch (error) {
      return this.#refuse(id, answerNotJson(error));
    }
    this.#incoming.delete(id);
    this.#write(text);
  }

  #refuse(id: number, error: unknown): void {
    this.#incoming.delete(id);
    const told = errorToWire(error);
    let text: string;
    try {
      text = JSON.stringify({ id, error: told });
    } catch {
      // What a server sent with its error may be nested too deeply.
      text = JSON.stringify({ id, error: { ...told, cause: undefined, problems: undefined } });
    }
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#end !== undefined) return;
    if (this.#socket.writableLength > this.#maxBytes.unsent) {
      return this.#break("it does not read what it is sent");
    }
    if (this.#outbox === "") process.nextTick(this.#flush);
    this.#outbox += text;
    this.#outbox += "\n";
    // A large text is not copied together with others.
    if (this.#outbox.length > LARGEST_PIECE) this.#flush();
    if (this.#isWaiting) this.#socket.pause();
  }

  get #isWaiting(): boolean {
    return this.#options.waitsForReader === true && this.isFull;
  }

  #drained(): void {
    while (!this.#isWaiting) {
      const line = this.#unread.shift();
      if (line === undefined) break;
      this.#receive(line);
    }
    if (!this.#isWaiting) this.#socket.resume();
    const tasks = [...this.#waiting];
    this.#waiting.clear();
    for (const task of tasks) task();
  }

  #break(reason: string): void {
    this.#ended({ kind: "broken", reason });
    this.#socket.destroy();
  }

  #ended(end: LinkEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const incoming of this.#incoming.values()) incoming.abort();
    this.#incoming.clear();
    this.#waiting.clear();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    // Whoever hears that a request has failed finds the link closed.
    this.#onClosed(end);
    for (const { fail, release } of pending) {
      release?.();
      fail(this.#unavailable("went away during the request", false));
    }
  }

  #unavailable(what: string, hasNotRun: boolean): PlugboardError {
    const message = `${this.#options.peer} ${what}`;
    return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun, quote: "" });
  }
}

class IncomingRequest implements Incoming {
  readonly update: (value: unknown) => void;
  #ending: AbortController | undefined;
  #isAborted = false;

  constructor(update: (value: unknown) => void) {
    this.update = update;
  }

  /** Made on first use: most requests never look at it. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    if (this.#isAborted) this.#ending.abort();
    return this.#ending.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#ending?.abort();
  }
}

function unsupported(message: string): PlugboardError {
  const hint = "the gateway and this command may be of different versions";
  return new PlugboardError("UNSUPPORTED", message, { hint, hasNotRun: true });
}

/** The request has run, so its answer is what is wrong. */
function answerNotJson(error: unknown): PlugboardError {
  return new PlugboardError(
    "INVALID_RESULT",
    `the answer cannot be written as JSON: ${String(error)}`,
  );
}

function notJson(error: unknown): PlugboardError {
  const message = `it cannot be written as JSON: ${String(error)}`;
  return new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true });
}
