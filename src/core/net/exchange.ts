// One request and its response, with their time limits. Whatever ends the exchange early calls `fail` with the
// reason, and the first reason counts.

import { cancelled, PlugboardError } from "../types/errors.ts";
import { type CallSignal, LightSignal } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { duration } from "../../util/text.ts";

export interface ExchangeLimits {
  signal?: CallSignal;
  headersTimeout?: number;
  deadline?: number;
}

export class Exchange {
  readonly #host: string;
  /** Aborted when the exchange fails. */
  readonly signal = new LightSignal();
  readonly #caller: CallSignal | undefined;
  readonly #onAbort = () => this.fail(cancelled());
  readonly #onEnd: (ended: Exchange) => void;
  #headersTimer: Timer | undefined;
  #deadlineTimer: Timer | undefined;
  #ended = false;

  constructor(
    host: string,
    limits: ExchangeLimits,
    clock: Clock,
    onEnd: (ended: Exchange) => void,
  ) {
    this.#host = host;
    this.#caller = limits.signal;
    this.#onEnd = onEnd;
    this.#headersTimer = this.#within(clock, limits.headersTimeout, "did not answer");
    this.#deadlineTimer = this.#within(clock, limits.deadline, "did not finish its answer");
    this.#caller?.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#caller?.aborted === true) this.#onAbort();
  }

  /** Why it ended early. */
  get failure(): PlugboardError | undefined {
    return this.signal.reason as PlugboardError | undefined;
  }

  headersArrived(): void {
    this.#headersTimer?.cancel();
  }

  /** Keeps the first failure. Does nothing after the end. */
  fail(error: PlugboardError): void {
    if (this.#ended) return;
    this.end();
    this.signal.abort(error);
  }

  /** Releases the timers and the caller's signal. Idempotent. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#headersTimer?.cancel();
    this.#deadlineTimer?.cancel();
    this.#caller?.removeEventListener("abort", this.#onAbort);
    this.#onEnd(this);
  }

  #within(clock: Clock, ms: number | undefined, what: string): Timer | undefined {
    if (ms === undefined) return undefined;
    return clock.after(ms, () =>
      this.fail(
        new PlugboardError("TIMEOUT", `${this.#host} ${what} within ${duration(ms)}`, {
          hint: "check whether the server is running and can be reached from here",
        }),
      ),
    );
  }
}
