// One connection between a gateway and an attached command. Each side sends requests, answers and notifications, of which
// `cancel` and `ping` are the link's own. One JSON text on one line each. Imports little, since a single warm call pays
// for every module.

import { once } from "node:events";
import type { Socket } from "node:net";
import { cancelled, invalidRequest, PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type Deferred, deferred } from "../../util/deferred.ts";
import { LineReader } from "../../util/line-reader.ts";
import { excessIn, type JsonMeasure } from "../../util/measure-json.ts";
import { type FunctionNumbers, Functions } from "./functions.ts";
import { errorFromWire, errorToWire } from "./wire.ts";

/**
 * A line: four times what a server may send by default. Whoever leaves more than `unsent` unread is cut off; a command
 * with many large results at once stays below.
 */
const MAX_BYTES = { line: 256 * 1024 ** 2, unsent: 256 * 1024 ** 2 };
/** With more than this unsent, nothing is sent that can be left out, and a gateway reads no further requests. */
const FULL_BYTES = 1024 ** 2;
const MOST_REQUESTS = 10_000;
/** How long the other side may take to say that it is still there. */
const PING_MS = 5000;
const PATIENCE_MS = 60_000;

export type LinkEnd =
  /** This side has closed it. */
  | { kind: "closed" }
  /** The other side has closed it, or its process is gone. */
  | { kind: "gone" }
  /** The other side answers nothing any more. */
  | { kind: "silent" }
  /** The other side broke the rules of the channel. */
  | { kind: "broken"; reason: string };

export interface LinkOptions {
  /** Who is at the other end, as the subject of a sentence. */
  peer: string;
  /** Do not read while the other side does not read. Only one side may do that: otherwise both could wait for ever. */
  waitsForReader?: boolean;
  /** With it, this side finds out whether the other one still answers. */
  clock?: Clock;
  /** How much a line may have in it that is read: each value takes far longer than a byte. Absent: anything. */
  most?: Readonly<JsonMeasure>;
  /** The longest line that is read, and the most that may be unsent before one more message. */
  maxBytes?: typeof MAX_BYTES;
}

/** Functions reach the other side. */
export interface IncomingOptions extends JsonObject {
  /** Aborts when the other side cancels the request or the link ends. */
  signal: AbortSignal;
  /** The number of a lasting request. */
  lasting?: unknown;
  /** Has something done when this lasting request ends. */
  atEnd: (end: () => unknown) => void;
}

/** Returns the answer, or a promise of it. What it throws becomes the error that the other side gets. */
export type RequestHandler = (args: unknown[], options: IncomingOptions) => unknown;

/** With the values and functions that the other side gets. */
export interface RequestOptions extends JsonObject {
  /** Aborting it cancels the request; the other side still answers it. */
  signal?: AbortSignal | undefined;
  /**
   * A number of its own. The functions among the options are used until `release` of that number or the end of the link,
   * not until the answer.
   */
  lasting?: number;
  /**
   * Milliseconds without an answer after which the other side must say that it is still there. Only that side knows how
   * long an answer may take: the time of a call stops while a person is asked. Default 60 000.
   */
  patience?: number | undefined;
}

export class Link {
  readonly closed: Promise<LinkEnd>;
  /** Undefined while it is open. */
  end: LinkEnd | undefined;
  /** Once it has ended: settles when everything is done that was to be done at the end. */
  released: Promise<unknown> = Promise.resolve();
  readonly #socket: Socket;
  readonly #options: LinkOptions;
  readonly #maxBytes: typeof MAX_BYTES;
  readonly #requestHandlers = new Map<string, RequestHandler>();
  readonly #notificationHandlers = new Map<string, (...args: unknown[]) => void>();
  readonly #pending = new Map<unknown, Deferred<unknown>>();
  readonly #incoming = new Map<unknown, AbortController>();
  readonly #functions: Functions;
  /** What is done when a lasting request ends, by its number; under undefined, when the link ends. */
  readonly #atEnd = new Map<unknown, (() => unknown)[]>();
  readonly #onClosed: (end: LinkEnd) => void;
  readonly #send = (): void => this.#socket.uncork();
  #lastId = 0;
  /** How many messages have come. */
  #heard = 0;

  constructor(socket: Socket, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    ({ promise: this.closed, resolve: this.#onClosed } = deferred<LinkEnd>());
    this.#functions = new Functions(this);
    this.hear("cancel", (id) => this.#incoming.get(id)?.abort());
    this.hear("ping", () => this.notify("pong"));
    this.handle("release", ([lasting]) => this.#release(Number(lasting)));
    socket.setNoDelay(true);
    // "close" follows, and says all that matters: nobody answers any more.
    socket.on("error", () => {});
    socket.on("close", () => this.#finish({ kind: "gone" }));
    if (socket.destroyed) this.#finish({ kind: "gone" });
    this.#read().catch(() => socket.destroy());
  }

  get isOpen(): boolean {
    return this.end === undefined;
  }

  /** How many requests of the other side are being answered. */
  get inFlight(): number {
    return this.#incoming.size;
  }

  /** The other side does not keep up: leave out what can be left out. */
  get isFull(): boolean {
    return this.#socket.writableLength > FULL_BYTES;
  }

  handle(method: string, handler: RequestHandler): void {
    this.#requestHandlers.set(method, handler);
  }

  hear(method: string, handler: (...args: unknown[]) => void): void {
    this.#notificationHandlers.set(method, handler);
  }

  /** Rejects with a PlugboardError: the other side's own, CANCELLED, or SERVER_UNAVAILABLE if the link ends. */
  async request(
    method: string,
    args: readonly unknown[] = [],
    options: RequestOptions = {},
  ): Promise<unknown> {
    const { signal, lasting, patience = PATIENCE_MS, ...given } = options;
    if (this.end !== undefined) throw unavailable(`${this.#options.peer} is gone`, true);
    if (signal?.aborted) throw cancelled(signal);
    const id = (this.#lastId += 1);
    const { values, numbers } = this.#functions.toNumbers(given);
    const cancel = (): void => this.notify("cancel", id);
    signal?.addEventListener("abort", cancel, { once: true });
    const watch = this.#watch(patience);
    try {
      const message = { id, method, args, options: values, functions: numbers, lasting };
      const text = toText(message, "INVALID_ARGUMENTS");
      const pending = deferred<unknown>();
      this.#pending.set(id, pending);
      this.#write(text);
      return await pending.promise;
    } finally {
      watch.cancel();
      signal?.removeEventListener("abort", cancel);
      this.#endFunctions(numbers, lasting);
    }
  }

  /** Ends a lasting request. Resolves when the other side has ended it, too. */
  async release(lasting: number): Promise<void> {
    try {
      await this.request("release", [lasting]);
    } finally {
      await this.#release(lasting);
    }
  }

  /** While a request waits: ends the link if nothing comes from the other side although it was asked. */
  #watch(ms: number): Timer {
    const { clock } = this.#options;
    let timer: Timer | undefined;
    const wait = (): void => {
      timer = clock?.later(ms, () => {
        const heard = this.#heard;
        this.notify("ping");
        timer = clock.later(PING_MS, () => {
          if (heard === this.#heard) this.#cutOff({ kind: "silent" });
          else wait();
        });
      });
    };
    wait();
    return { cancel: () => timer?.cancel() };
  }

  notify(method: string, ...args: unknown[]): void {
    if (this.isOpen) this.#write(JSON.stringify({ method, args }));
  }

  /** Sends what is unsent, then ends the link. */
  close(): void {
    if (!this.isOpen) return;
    this.#finish({ kind: "closed" });
    this.#socket.destroySoon();
  }

  /** Ends the link at once; what is unsent is lost. */
  destroy(): void {
    this.#cutOff({ kind: "closed" });
  }

  /** Begins later, so that whoever has the link can set its handlers first. Ends with the socket. */
  async #read(): Promise<void> {
    const lines: string[] = [];
    const reader = new LineReader({
      maxBytes: this.#maxBytes.line,
      onLine: (line) => lines.push(line),
      onOverflow: (bytes) => this.#break(`it sent a line of ${bytes} bytes`),
    });
    for await (const chunk of this.#socket) {
      reader.push(chunk as Buffer);
      for (const line of lines.splice(0)) {
        if (this.#options.waitsForReader && this.isFull) await once(this.#socket, "drain");
        if (this.isOpen) this.#receive(line);
      }
    }
  }

  #receive(line: string): void {
    this.#heard += 1;
    const { most } = this.#options;
    const excess = most && excessIn(line, most);
    if (excess !== undefined) return this.#refuse(line, excess);
    const message = tryParseJson(line);
    if (!isJsonObject(message)) return this.#break("it sent a line that is not a JSON object");
    const { id, method } = message;
    if (typeof method === "string") {
      const args = Array.isArray(message.args) ? message.args : [];
      if (id === undefined) this.#hear(method, args);
      else void this.#answer(id, method, args, message);
    } else if (typeof id === "number") {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (message.error === undefined) pending?.resolve(message.result);
      else pending?.reject(errorFromWire(message.error));
    } else {
      this.#break("it sent a line that is no message of the channel");
    }
  }

  /** What is too much to be parsed: a request gets an answer, by the id that is in front of it. */
  #refuse(line: string, excess: string): void {
    const id = /^\{"id":(\d{1,15}),"method":"/.exec(line)?.[1];
    if (id === undefined) return this.#break(`it sent a line that ${excess}`);
    this.#write(errorText(Number(id), errorToWire(invalidRequest(`the request ${excess}`))));
  }

  #hear(method: string, args: unknown[]): void {
    try {
      this.#notificationHandlers.get(method)?.(...args);
    } catch (error) {
      this.#break(`its notification '${method.slice(0, 100)}' could not be read: ${String(error)}`);
    }
  }

  async #answer(
    id: unknown,
    method: string,
    args: unknown[],
    { options = {}, functions = {}, lasting }: JsonObject,
  ): Promise<void> {
    if (!Number.isSafeInteger(id) || this.#incoming.has(id)) {
      return this.#break("it sent a request without an id of its own");
    }
    if (!isJsonObject(options) || !isNumbers(functions)) {
      return this.#break("it sent a request whose options cannot be read");
    }
    const ending = new AbortController();
    const given = this.#functions.fromNumbers(options, functions);
    let text: string;
    // A number that is used again would leave the first request without an end.
    if (lasting !== undefined) void this.#release(lasting);
    try {
      const handler = this.#requestHandlers.get(method);
      if (handler === undefined) throw unsupported(method);
      if (this.#incoming.size >= MOST_REQUESTS) {
        const many = `${MOST_REQUESTS} requests are being answered already; this one has not run`;
        throw unavailable(many, true);
      }
      this.#incoming.set(id, ending);
      const atEnd = (end: () => unknown): void => this.atEnd(end, lasting);
      const answer = handler(args, { ...given, signal: ending.signal, lasting, atEnd });
      // What is there at once is written at once: only then is it known whether to read on.
      const result = answer instanceof Promise ? await answer : answer;
      // The request has run, so its answer is what is wrong if it cannot be written.
      text = toText({ id, result }, "INVALID_RESULT");
    } catch (error) {
      text = errorText(id, errorToWire(error));
    }
    if (this.#incoming.get(id) === ending) this.#incoming.delete(id);
    this.#endFunctions(functions, lasting);
    this.#write(text);
  }

  #endFunctions(numbers: FunctionNumbers, lasting: unknown): void {
    if (lasting === undefined) this.#functions.end(numbers);
    else this.atEnd(() => this.#functions.end(numbers), lasting);
  }

  /** Has something done when the lasting request with this number ends, or else the link. */
  atEnd(end: () => unknown, lasting?: unknown): void {
    if (!this.isOpen) return void end();
    this.#atEnd.set(lasting, [...(this.#atEnd.get(lasting) ?? []), end]);
  }

  async #release(lasting: unknown): Promise<void> {
    const ends = this.#atEnd.get(lasting) ?? [];
    this.#atEnd.delete(lasting);
    await Promise.all(ends.map((end) => end()));
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    if (this.#socket.writableLength > this.#maxBytes.unsent) {
      return this.#break("it does not read what it is sent");
    }
    // What is written in one turn of the event loop goes out in one piece.
    this.#socket.cork();
    this.#socket.write(`${text}\n`);
    process.nextTick(this.#send);
  }

  #break(reason: string): void {
    this.#cutOff({ kind: "broken", reason });
  }

  #cutOff(end: LinkEnd): void {
    this.#finish(end);
    this.#socket.destroy();
  }

  #finish(end: LinkEnd): void {
    if (!this.isOpen) return;
    this.end = end;
    for (const incoming of this.#incoming.values()) incoming.abort();
    this.#incoming.clear();
    this.released = Promise.all([...this.#atEnd.keys()].map((each) => this.#release(each)));
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    // Whoever hears that a request has failed finds the link closed.
    this.#onClosed(end);
    const gone = unavailable(`${this.#options.peer} went away during the request`, false);
    for (const { reject } of pending) reject(gone);
  }
}

function isNumbers(value: unknown): value is FunctionNumbers {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === "number");
}

function toText(message: object, code: "INVALID_ARGUMENTS" | "INVALID_RESULT"): string {
  try {
    return JSON.stringify(message);
  } catch (error) {
    const what = code === "INVALID_RESULT" ? "the answer" : "it";
    const problem = `${what} cannot be written as JSON: ${String(error)}`;
    throw new PlugboardError(code, problem, { hasNotRun: code === "INVALID_ARGUMENTS" });
  }
}

function errorText(id: unknown, error: JsonObject): string {
  try {
    return JSON.stringify({ id, error });
  } catch {
    // What a server sent with its error may be nested too deeply.
    return JSON.stringify({ id, error: { ...error, cause: undefined, problems: undefined } });
  }
}

function unsupported(method: string): PlugboardError {
  const message = `there is no '${method.slice(0, 100)}' on this channel`;
  const hint = "the gateway and this command may be of different versions";
  return new PlugboardError("UNSUPPORTED", message, { hint, hasNotRun: true });
}

function unavailable(message: string, hasNotRun: boolean): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun, quote: "" });
}
