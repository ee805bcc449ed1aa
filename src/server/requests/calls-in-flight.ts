// Finds the call that a server's request belongs to. Up to 2025-11-25 the request itself does not say: we
// know the call only while exactly one is in flight, and the caller only while all calls have the same one.

import type { RequestHandlers } from "../../model/request-handlers.ts";

/** A call, as seen by the requests that it causes. */
export interface CausingCall {
  /** Absent for resource reads and prompts. */
  tool?: string;
  /** The caller's id for a tool call. */
  callId?: string;
  /** The caller's own handlers, which go before the board's. */
  handlers?: RequestHandlers;
  /** How often it has asked for the model. */
  samples: number;
}

export interface RequestOrigin {
  /** Undefined where we cannot tell. */
  call: CausingCall | undefined;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

interface Tracked {
  call: CausingCall;
  /** Where it is in the list. */
  at: number;
  /** Hear that it failed. Few calls have any. */
  onFailed: (() => void)[] | undefined;
}

export class CallsInFlight {
  /** In no order. Every call passes here, and a list costs less than a map: the last one fills the gap. */
  readonly #calls: Tracked[] = [];
  /** Aborts when all current calls have failed; made anew when the calls change. */
  #allFailed: AbortSignal | undefined;

  /** Runs a call; requests that arrive meanwhile may belong to it. */
  async track<Result>(call: CausingCall, run: () => Promise<Result>): Promise<Result> {
    const tracked: Tracked = { call, at: this.#calls.length, onFailed: undefined };
    this.#calls.push(tracked);
    this.#allFailed = undefined;
    try {
      return await run();
    } catch (error) {
      for (const listener of tracked.onFailed ?? []) listener();
      throw error;
    } finally {
      this.#remove(tracked);
      this.#allFailed = undefined;
    }
  }

  #remove({ at }: Tracked): void {
    const last = this.#calls.pop();
    if (last === undefined || last.at === at) return;
    last.at = at;
    this.#calls[at] = last;
  }

  /**
   * The origin of a request that arrives now; `ended` is the request's own signal. Nobody waits for its
   * answer once every call that may have caused it has failed. If the call succeeded, the server may still
   * want the answer.
   */
  origin(ended: AbortSignal): RequestOrigin {
    const only = this.#calls[0]?.call;
    if (only === undefined) return { call: undefined, signal: ended };
    this.#allFailed ??= this.#whenAllFailed();
    return {
      call: this.#calls.length === 1 ? only : this.#someCallOf(only.handlers),
      signal: AbortSignal.any([ended, this.#allFailed]),
    };
  }

  /** Stands for all calls, if they all brought the same handlers. */
  #someCallOf(handlers: RequestHandlers | undefined): CausingCall | undefined {
    if (handlers === undefined) return undefined;
    const { onElicitation, onSampling } = handlers;
    const haveSameCaller = this.#calls.every(
      ({ call }) =>
        call.handlers?.onElicitation === onElicitation && call.handlers?.onSampling === onSampling,
    );
    return haveSameCaller ? { handlers, samples: 0 } : undefined;
  }

  #whenAllFailed(): AbortSignal {
    const allFailed = new AbortController();
    let left = this.#calls.length;
    const onFailed = (): void => {
      left -= 1;
      if (left === 0) allFailed.abort();
    };
    for (const tracked of this.#calls) (tracked.onFailed ??= []).push(onFailed);
    return allFailed.signal;
  }
}
