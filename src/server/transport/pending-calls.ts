// The requests the host has made itself and still waits for: ids, deadlines, progress, cancellation.
// One timer serves all of them, and an abort listener exists only where a signal was given: at 100 000
// calls a second a timer or a controller per call is what one would mostly be paying for.

import { setMaxListeners } from "node:events";
import { cancelled, PlugboardError, toPlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { Progress } from "../../model/tool.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { duration, oneLine } from "../../util/text.ts";

export interface RequestOptions {
  /** Milliseconds without an answer or progress. */
  timeout: number;
  /** Milliseconds that progress may extend it to. */
  ceiling?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Parameters of a call beside its name and arguments. */
  extra?: JsonObject;
}

interface PendingCall {
  method: string;
  resolve: (result: unknown) => void;
  reject: (error: PlugboardError) => void;
  timeout: number;
  deadline: number;
  latest: number;
  /** How many wait for somebody to be asked; meanwhile `deadline` is Infinity. */
  holds: number;
  heldSince: number;
  /** Milliseconds there are when the last of them is over. */
  left: number;
  /** Progress has moved the deadline. */
  extended: boolean;
  onProgress: ((progress: Progress) => void) | undefined;
  signal: AbortSignal | undefined;
  onAbort: (() => void) | undefined;
}

/**
 * The SDK counts its own ids up from 0 on the same connection. Integers, since some servers take
 * nothing else; they stay below 2^31, since some of those keep them in 32 bits.
 */
const FIRST_ID = 1_000_000_000;
const LAST_ID = 2_000_000_000;

export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  readonly #clock: Clock;
  /** Tells the server that its answer is no longer wanted. */
  readonly #abandon: (id: number, reason: string) => void;
  #nextId = FIRST_ID;
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #failure: PlugboardError | undefined;

  constructor(clock: Clock, abandon: (id: number, reason: string) => void) {
    this.#clock = clock;
    this.#abandon = abandon;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Whether somebody still waits for this one. */
  waits(id: number): boolean {
    return this.#calls.has(id);
  }

  /** True for an id that only this table hands out, whether or not it is still waited for. */
  owns(id: number): boolean {
    return id >= FIRST_ID && id < LAST_ID;
  }

  /** `send` is called with the id, synchronously; the promise rejects with a PlugboardError alone. */
  request(method: string, options: RequestOptions, send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      const { signal } = options;
      if (signal?.aborted) return reject(cancelled());
      const id = this.#nextId;
      this.#nextId = id + 1 === LAST_ID ? FIRST_ID : id + 1;
      const now = this.#clock.monotonic();
      const call: PendingCall = {
        method,
        resolve,
        reject,
        timeout: options.timeout,
        deadline: now + options.timeout,
        latest: now + Math.max(options.ceiling ?? 0, options.timeout),
        holds: 0,
        heldSince: 0,
        left: 0,
        extended: false,
        onProgress: options.onProgress,
        signal,
        onAbort: undefined,
      };
      if (signal !== undefined) {
        call.onAbort = () => {
          if (this.#take(id) === undefined) return;
          this.#abandon(id, "cancelled by the caller");
          reject(cancelled());
        };
        allowMany(signal);
        signal.addEventListener("abort", call.onAbort, { once: true });
      }
      this.#calls.set(id, call);
      if (call.deadline < this.#timerAt) this.#arm(call.deadline, now);
      try {
        send(id);
      } catch (error) {
        // Arguments from a program may be more than JSON can say: cycles, BigInts.
        this.fail(id, toPlugboardError(error, "INVALID_ARGUMENTS"));
      }
    });
  }

  /** Settles the call that a response belongs to; false when nobody waits for it (any more). */
  settle(id: number, message: JsonObject): boolean {
    const call = this.#take(id);
    if (call === undefined) return false;
    // Some servers say `"error": null` beside a result.
    if (message.error === undefined || message.error === null) call.resolve(message.result);
    else call.reject(serverError(call.method, message.error));
    return true;
  }

  /** True when the token is one of ours. */
  progress(token: unknown, params: JsonObject): boolean {
    if (typeof token !== "number" || !this.owns(token)) return false;
    const call = this.#calls.get(token);
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

  /** While `wait` lasts, the call's own time stands still: somebody is being asked, not the server. */
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
      if (call.holds === 0) this.#release(id, call);
    }
  }

  #release(id: number, call: PendingCall): void {
    const now = this.#clock.monotonic();
    call.latest += now - call.heldSince;
    call.deadline = Math.min(now + call.left, call.latest);
    if (this.#calls.has(id) && call.deadline < this.#timerAt) this.#arm(call.deadline, now);
  }

  /** The same for all that is waited for now, where it cannot be told whose call is held up. */
  async holdAll<Result>(wait: Promise<Result>): Promise<Result> {
    for (const id of this.#calls.keys()) void this.hold(id, wait).catch(() => {});
    return wait;
  }

  fail(id: number, error: PlugboardError): void {
    this.#take(id)?.reject(error);
  }

  /** Fails what is waited for and everything asked from now on. */
  failAll(error: PlugboardError): void {
    this.#failure ??= error;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const id of this.#calls.keys()) this.fail(id, error);
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    if (call.onAbort !== undefined) call.signal?.removeEventListener("abort", call.onAbort);
    return call;
  }

  #arm(deadline: number, now: number): void {
    this.#timer?.cancel();
    this.#timerAt = deadline;
    this.#timer = this.#clock.later(deadline - now, () => this.#expire());
  }

  /** Answered calls leave the timer alone, so it may fire for nothing: then it is set to what is left. */
  #expire(): void {
    this.#timerAt = Infinity;
    const now = this.#clock.monotonic();
    let next = Infinity;
    for (const [id, call] of this.#calls) {
      // Timers may fire a fraction of a millisecond early.
      if (call.deadline > now + 1) {
        next = Math.min(next, call.deadline);
        continue;
      }
      this.#take(id);
      this.#abandon(id, "timed out");
      call.reject(timedOut(call));
    }
    if (next !== Infinity) this.#arm(next, now);
  }
}

const MANY = new WeakSet<AbortSignal>();

/** A turn of an agent may make any number of calls with one signal: that is no leak. */
function allowMany(signal: AbortSignal): void {
  if (MANY.has(signal)) return;
  MANY.add(signal);
  setMaxListeners(0, signal);
}

function timedOut(call: PendingCall): PlugboardError {
  const message = call.extended
    ? `no answer to ${call.method} within ${duration(call.timeout)} of its last progress, or past the ceiling`
    : `no answer to ${call.method} within ${duration(call.timeout)}`;
  return new PlugboardError("TIMEOUT", message);
}

function serverError(method: string, error: unknown): PlugboardError {
  const text =
    isJsonObject(error) && typeof error.message === "string"
      ? oneLine(error.message, 2000)
      : "no message";
  const code = isJsonObject(error) && typeof error.code === "number" ? ` (${error.code})` : "";
  return new PlugboardError("SERVER_ERROR", `${text}${code}`, { cause: { method, error } });
}
