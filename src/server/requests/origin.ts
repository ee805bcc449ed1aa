// Which call a request of the server's belongs to. Up to 2025-11-25 nothing in the request says so: it is
// certain while exactly one call is in flight. Whose it is, is certain while all of them are one caller's.

import type { RequestHandlers } from "../../model/server-request.ts";

/** A call as the requests that it causes see it. */
export interface CausingCall {
  /** Undefined where it is no tool that is called. */
  tool: string | undefined;
  /** The caller's id of it; undefined for what is no call of a tool. */
  callId: string | undefined;
  /** The caller's own, before the board's. */
  handlers: RequestHandlers | undefined;
  /** How often it has asked for the model. */
  samples: number;
  /** Runs its handlers where the call was made: a request comes in from elsewhere, and they may need to know. */
  inCall?: <Result>(task: () => Result) => Result;
}

export interface Origin {
  /** Undefined where it cannot be told. */
  call: CausingCall | undefined;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

type Listeners = Set<() => void>;

export class CallsInFlight {
  readonly #calls = new Map<CausingCall, Listeners>();
  /** Aborts when all calls of now have failed; made anew when they are others. */
  #abandoned: AbortSignal | undefined;

  /** Runs a call; requests that arrive meanwhile may be its. */
  async track<Result>(call: CausingCall, run: () => Promise<Result>): Promise<Result> {
    const onFailed: Listeners = new Set();
    this.#calls.set(call, onFailed);
    this.#abandoned = undefined;
    try {
      return await run();
    } catch (error) {
      for (const listener of onFailed) listener();
      throw error;
    } finally {
      this.#calls.delete(call);
      this.#abandoned = undefined;
    }
  }

  /**
   * `ended` is the request's own end. Its answer is not waited for either once every call that may have
   * caused it has failed; a server that has answered its call may still want to know.
   */
  origin(ended: AbortSignal): Origin {
    const [only] = this.#calls.keys();
    if (only === undefined) return { call: undefined, signal: ended };
    this.#abandoned ??= this.#whenAllFailed();
    return {
      call: this.#calls.size === 1 ? only : this.#anyOf(only.handlers),
      signal: AbortSignal.any([ended, this.#abandoned]),
    };
  }

  /** Some call of the caller who brought these handlers to all of them. */
  #anyOf(handlers: RequestHandlers | undefined): CausingCall | undefined {
    if (handlers === undefined) return undefined;
    const { onElicitation, onSampling } = handlers;
    const isTheirs = [...this.#calls.keys()].every(
      (call) =>
        call.handlers?.onElicitation === onElicitation && call.handlers?.onSampling === onSampling,
    );
    return isTheirs ? { tool: undefined, callId: undefined, handlers, samples: 0 } : undefined;
  }

  #whenAllFailed(): AbortSignal {
    const abandoned = new AbortController();
    let left = this.#calls.size;
    const onFailed = (): void => {
      left -= 1;
      if (left === 0) abandoned.abort();
    };
    for (const listeners of this.#calls.values()) listeners.add(onFailed);
    return abandoned.signal;
  }
}
