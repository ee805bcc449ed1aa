// Finds the call that a server's request belongs to. Up to 2025-11-25 the request itself does not say: we
// know the call only while exactly one is in flight, and the caller only while all calls have the same one.

import type { RequestHandlers } from "../../types/request-handlers.ts";
import { type Listed, PassingList } from "../../../util/passing-list.ts";

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

/** A call while it is in flight. */
export interface Tracked extends Listed {
  call: CausingCall;
  /** Hear that it failed. Few calls have any. */
  onFailed: (() => void)[] | undefined;
}

export class CallsInFlight {
  readonly #calls = new PassingList<Tracked>();
  /** Aborts when all current calls have failed; made anew when the calls change. */
  #allFailed: AbortSignal | undefined;

  /** A call begins. Requests that arrive before its `end` may belong to it. */
  begin(call: CausingCall): Tracked {
    const tracked: Tracked = { call, at: 0, onFailed: undefined };
    this.#calls.add(tracked);
    this.#allFailed = undefined;
    return tracked;
  }

  end(tracked: Tracked, outcome: "answered" | "failed"): void {
    if (outcome === "failed") for (const listener of tracked.onFailed ?? []) listener();
    this.#calls.remove(tracked);
    this.#allFailed = undefined;
  }

  /**
   * Notes which calls may have caused a request that arrives now. Returns a function that makes its origin, for when the
   * request is answered: `ended` is the request's own signal. Nobody waits for the answer once every call that may have
   * caused the request has failed. If the call succeeded, the server may still want the answer.
   */
  originOfArrived(): (ended: AbortSignal) => RequestOrigin {
    const only = this.#calls.first?.call;
    if (only === undefined) return (ended) => ({ call: undefined, signal: ended });
    const call = this.#calls.length === 1 ? only : this.#someCallOf(only.handlers);
    const allFailed = (this.#allFailed ??= this.#whenAllFailed());
    return (ended) => ({ call, signal: AbortSignal.any([ended, allFailed]) });
  }

  /** Stands for all calls, if they all brought the same handlers. */
  #someCallOf(handlers: RequestHandlers | undefined): CausingCall | undefined {
    if (handlers === undefined) return undefined;
    const { onElicitation, onSampling } = handlers;
    const haveSameCaller = [...this.#calls].every(
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
