// The host's own requests that have no answer yet: ids, deadlines, progress, cancellation. One timer serves all
// of them, and an abort listener exists only where a signal was given: at 100 000 calls a second, a timer or a
// controller per call would cost more than everything else.

import {
  cancelled,
  PlugboardError,
  toPlugboardError,
  withoutEffect,
  withPossibleEffect,
} from "../../types/errors.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Progress } from "../../types/tool.ts";
import { allowManyListeners, type CallSignal } from "../../../util/abort.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { IdRing } from "../../../util/id-ring.ts";
import { duration } from "../../../util/text.ts";
import { describeDropped, type DroppedLine, faultOfText } from "./dropped-line.ts";
import { isMethodNotFound, malformed, type Quote, serverError } from "./errors.ts";
import type { CallerMeta } from "./request-meta.ts";

export interface RequestOptions extends CallerMeta {
  /** Milliseconds without an answer or progress. */
  timeout: number;
  /** Milliseconds that progress may extend it to. */
  ceiling?: number;
  signal?: CallSignal | undefined;
  onProgress?: (progress: Progress) => void;
  /** The caller's id, and the board that the request is made on: log messages carry them. */
  callId?: string | undefined;
  board?: object | undefined;
  /** The arguments of a call as JSON, if somebody has made that already. */
  argsJson?: string | undefined;
  /** More parameters of a call, besides its name and arguments. */
  extra?: JsonObject;
  /** Is told how long the request waits for answers to what the server asks. */
  waits?: { waitedMs: number } | undefined;
  /** The server need not know this request: an outage is not waited out, and no answer ends the conversation. */
  isProbe?: boolean;
}

interface PendingCall {
  readonly id: number;
  method: string;
  resolve: (result: unknown) => void;
  reject: (error: PlugboardError) => void;
  started: number;
  timeout: number;
  deadline: number;
  latest: number;
  /** How many holds there are, while a person is asked; meanwhile `deadline` is Infinity. */
  holds: number;
  heldSince: number;
  /** Milliseconds that are left when the last hold ends. */
  left: number;
  /** How many questions of the server wait for an answer, since `askedSince`. */
  questions: number;
  askedSince: number;
  waits: { waitedMs: number } | undefined;
  /** Progress has moved the deadline. */
  extended: boolean;
  onProgress: ((progress: Progress) => void) | undefined;
  signal: CallSignal | undefined;
  onAbort: (() => void) | undefined;
}

/**
 * The SDK counts its own ids up from 0 on the same connection. Ours are integers, because some servers accept
 * nothing else, and stay below 2^31, because some of those keep them in 32 bits. V8 parses nine digits faster than ten.
 */
const FIRST_ID = 100_000_000;
const LAST_ID = 1_000_000_000;
const OUR_ID = /^[1-9]\d{8}$/;

/** How long the true answer may still come after one with a spoilt id. */
const SPOILT_MS = 500;
/** How many characters at either end of an answer are searched for its id. */
const ENVELOPE = 2000;

/**
 * Tells the server that nobody waits for its answer any more. If the server has never seen the request, returns
 * what kept us from sending it.
 */
export type Abandon = (id: number, reason: string) => PlugboardError | undefined;

export class PendingCalls {
  readonly #calls = new IdRing<PendingCall>();
  readonly #clock: Clock;
  readonly #abandon: Abandon;
  readonly #quote: Quote;
  readonly #droppedSince: (since: number) => DroppedLine | undefined;
  #nextId = FIRST_ID;
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #failure: PlugboardError | undefined;
  /** A call was given up, so an error without an id may be the answer to that one. */
  #hasAbandoned = false;

  /** `droppedSince` tells what the server wrote since then that is not a message. */
  constructor(
    clock: Clock,
    abandon: Abandon,
    quote: Quote,
    droppedSince: (since: number) => DroppedLine | undefined = () => undefined,
  ) {
    this.#clock = clock;
    this.#abandon = (id, reason) => {
      this.#hasAbandoned = true;
      return abandon(id, reason);
    };
    this.#quote = quote;
    this.#droppedSince = droppedSince;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Whether the call still waits for its answer. */
  waits(id: number): boolean {
    return this.#calls.get(id) !== undefined;
  }

  /** Milliseconds until the call times out; Infinity while a person is asked. */
  timeLeft(id: number): number {
    return (this.#calls.get(id)?.deadline ?? 0) - this.#clock.monotonic();
  }

  /** The id if it is one of ours, pending or not. Some servers send numbers back as text. */
  ownId(id: unknown): number | undefined {
    const number = typeof id === "string" && OUR_ID.test(id) ? Number(id) : id;
    if (typeof number !== "number") return undefined;
    return number >= FIRST_ID && number < LAST_ID ? number : undefined;
  }

  /** `send` is called with the id, synchronously; the promise rejects with a PlugboardError only. */
  request(method: string, options: RequestOptions, send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(withoutEffect(this.#failure));
      const { signal } = options;
      if (signal?.aborted) return reject(withoutEffect(cancelled(signal)));
      const id = this.#newId();
      const now = this.#clock.monotonic();
      const call: PendingCall = {
        id,
        method,
        resolve,
        reject,
        started: now,
        timeout: options.timeout,
        deadline: now + options.timeout,
        latest: now + Math.max(options.ceiling ?? 0, options.timeout),
        holds: 0,
        heldSince: 0,
        left: 0,
        questions: 0,
        askedSince: 0,
        waits: options.waits,
        extended: false,
        onProgress: options.onProgress,
        signal,
        onAbort: undefined,
      };
      if (signal !== undefined) {
        call.onAbort = () => {
          if (this.#take(id) === undefined) return;
          const unsent = this.#abandon(id, "cancelled by the caller");
          const why = cancelled(signal);
          reject(unsent === undefined ? why : withoutEffect(why));
        };
        allowManyListeners(signal);
        signal.addEventListener("abort", call.onAbort, { once: true });
      }
      this.#calls.add(call);
      if (call.deadline < this.#timerAt) this.#arm(call.deadline, now);
      this.attempt(id, send);
    });
  }

  /** Runs a part of sending the request; what it throws fails the call. */
  attempt(id: number, send: (id: number) => void): void {
    try {
      send(id);
    } catch (error) {
      // A program's arguments may be more than JSON can express: cycles, BigInts.
      this.fail(id, withoutEffect(toPlugboardError(error, "INVALID_ARGUMENTS")));
    }
  }

  /** Settles the call that a response belongs to; false if nobody waits for it (any more). */
  settle(id: number, message: JsonObject): boolean {
    const call = this.#take(id);
    if (call === undefined) return false;
    // Some servers send `"error": null` beside a result.
    if (message.error !== undefined && message.error !== null) {
      call.reject(serverError(call.method, message.error, this.#quote));
    } else if (message.result === undefined) {
      const fault = "has neither a result nor an error";
      call.reject(malformed(call.method, fault, this.#quote(message)));
    } else {
      call.resolve(message.result);
    }
    return true;
  }

  /** Fails the call whose answer cannot be parsed, if its id can be read; false for any other text. `reason`: if it is JSON. */
  failUnreadable(text: string, reason?: PlugboardError): boolean {
    const ends = `${text.slice(0, ENVELOPE)} ${text.slice(ENVELOPE).slice(-ENVELOPE)}`;
    // A log line may repeat our own request.
    if (!/^\s*\{/.test(ends) || !/"(?:result|error)"/.test(ends) || ends.includes('"method"')) {
      return false;
    }
    const id = Number(/"id"\s*:\s*"?(\d{9})(?!\d)/.exec(ends)?.[1]);
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    const fault = faultOfText(text) ?? "is not valid JSON";
    this.fail(id, reason ?? malformed(call.method, fault, this.#quote(text)));
    return true;
  }

  /**
   * An answer with a spoilt id has come. The only call that it can be for fails, unless its true answer comes within a
   * moment: some servers also answer what nobody has asked.
   */
  suspect(fault: string, text: string): void {
    if (this.#calls.size !== 1 || this.#hasAbandoned) return;
    const [only] = this.#calls.all();
    if (only === undefined) return;
    const error = malformed(only.method, fault, this.#quote(text));
    this.#clock.later(SPOILT_MS, () => {
      if (this.#calls.get(only.id) === only) this.fail(only.id, error);
    });
  }

  /**
   * Takes an error without an id, and fails the only call that can be meant. False if several can, or none. An
   * unknown method may also be a notification, which needs no answer.
   */
  failOnly(error: unknown): boolean {
    if (this.#calls.size !== 1 || this.#hasAbandoned) return false;
    const [only] = this.#calls.all();
    if (only === undefined) return false;
    const failure = serverError(only.method, error, this.#quote);
    if (isMethodNotFound(failure)) return false;
    this.fail(only.id, failure);
    return true;
  }

  /** True if the token is one of ours. */
  progress(token: unknown, params: JsonObject): boolean {
    const id = this.ownId(token);
    if (id === undefined) return false;
    const call = this.#calls.get(id);
    if (call === undefined) return true;
    call.extended = true;
    if (call.holds > 0) call.left = Math.min(call.timeout, call.latest - call.heldSince);
    else call.deadline = Math.min(this.#clock.monotonic() + call.timeout, call.latest);
    if (call.onProgress !== undefined && typeof params.progress === "number") {
      const progress: Progress = { progress: params.progress };
      if (typeof params.total === "number") progress.total = params.total;
      if (typeof params.message === "string") progress.message = params.message;
      call.onProgress(progress);
    }
    return true;
  }

  /** Stops the call's clock until `wait` settles: a person is being asked, not the server. */
  async hold<Result>(id: number, wait: Promise<Result>): Promise<Result> {
    const call = this.#calls.get(id);
    if (call === undefined) return wait;
    if (call.holds === 0) {
      call.heldSince = this.#clock.monotonic();
      call.left = call.deadline - call.heldSince;
      call.deadline = Infinity;
    }
    call.holds += 1;
    try {
      return await wait;
    } finally {
      call.holds -= 1;
      if (call.holds === 0) this.#release(call);
    }
  }

  #release(call: PendingCall): void {
    const now = this.#clock.monotonic();
    call.latest += now - call.heldSince;
    call.deadline = Math.min(now + call.left, call.latest);
    if (this.waits(call.id) && call.deadline < this.#timerAt) this.#arm(call.deadline, now);
  }

  /** Stops the clock of every pending call, where we cannot tell which of them waits for the person. */
  async holdAll<Result>(wait: Promise<Result>): Promise<Result> {
    for (const call of this.#calls.all()) {
      void this.hold(call.id, this.#asked(call, wait)).catch(() => {});
    }
    return wait;
  }

  /** A question of the server, until it has its answer or the call has ended. */
  async #asked(call: PendingCall, answer: Promise<unknown>): Promise<void> {
    if (call.questions === 0) call.askedSince = this.#clock.monotonic();
    call.questions += 1;
    try {
      await answer;
    } finally {
      call.questions -= 1;
      if (call.questions === 0) this.#countWait(call);
    }
  }

  #countWait(call: PendingCall): void {
    if (call.waits === undefined) return;
    const now = this.#clock.monotonic();
    call.waits.waitedMs += now - call.askedSince;
    call.askedSince = now;
  }

  fail(id: number, error: PlugboardError): void {
    this.#take(id)?.reject(error);
  }

  /** Fails everything pending, and every request from now on. `unsent` are the requests that were never sent. */
  failAll(error: PlugboardError, unsent: Iterable<number> = []): void {
    this.#failure ??= error;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const id of unsent) this.fail(id, withoutEffect(error));
    const ofSent = withPossibleEffect(error);
    for (const { id } of this.#calls.all()) this.fail(id, ofSent);
  }

  /** A call that waits for a person may outlast all other ids. */
  #newId(): number {
    let id = this.#nextId;
    while (this.waits(id)) id = following(id);
    this.#nextId = following(id);
    return id;
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.take(id);
    if (call === undefined) return undefined;
    if (call.onAbort !== undefined) call.signal?.removeEventListener("abort", call.onAbort);
    if (call.questions > 0) this.#countWait(call);
    call.waits = undefined;
    return call;
  }

  #arm(deadline: number, now: number): void {
    this.#timer?.cancel();
    this.#timerAt = deadline;
    this.#timer = this.#clock.later(deadline - now, () => this.#expire());
  }

  /** Answered calls leave the timer alone, so it may fire too early; then it is set again for the rest. */
  #expire(): void {
    this.#timerAt = Infinity;
    const now = this.#clock.monotonic();
    let next = Infinity;
    for (const call of this.#calls.all()) {
      // Timers may fire a fraction of a millisecond early.
      if (call.deadline > now + 1) {
        next = Math.min(next, call.deadline);
        continue;
      }
      this.#take(call.id);
      const unsent = this.#abandon(call.id, "timed out");
      call.reject(
        unsent === undefined
          ? timedOut(call, this.#droppedSince(call.started))
          : neverSent(call, unsent),
      );
    }
    if (next !== Infinity) this.#arm(next, now);
  }
}

function following(id: number): number {
  return id + 1 === LAST_ID ? FIRST_ID : id + 1;
}

function neverSent({ method, timeout }: PendingCall, why: PlugboardError): PlugboardError {
  const message = `${why.message}: ${method} could not be sent within ${duration(timeout)}, and has not run`;
  return new PlugboardError(why.code, message, { cause: why, quote: why.quote, hasNotRun: true });
}

/** `dropped` may be the answer, or say why there is none. */
function timedOut(call: PendingCall, dropped: DroppedLine | undefined): PlugboardError {
  const what = call.extended
    ? `no answer to ${call.method} within ${duration(call.timeout)} of its last progress, or within ${duration(call.latest - call.started)} in all`
    : `no answer to ${call.method} within ${duration(call.timeout)}`;
  if (dropped === undefined) return new PlugboardError("TIMEOUT", what);
  const message = `${what}; ${describeDropped(dropped)}`;
  return new PlugboardError("TIMEOUT", message, { quote: dropped.shown });
}
