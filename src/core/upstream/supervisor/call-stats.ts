// Counts one server's calls and measures their latency, for `status`.

import type { ServerCalls } from "../../types/server-status.ts";
import type { CallCounter } from "../../types/supervisor.ts";

/** The weight of the newest call in the running mean of the latency. */
const WEIGHT = 0.2;

export class CallStats implements CallCounter {
  /** Requests that the server has not answered yet, also for resources and prompts. */
  inFlight = 0;
  #total = 0;
  #failed = 0;
  #latencyMs: number | undefined;
  #waitedMs = 0;

  ended({ durationMs, waitedMs, isError }: Parameters<Required<CallCounter>["ended"]>[0]): void {
    this.#total += 1;
    this.#waitedMs += waitedMs;
    const before = this.#latencyMs ?? durationMs;
    if (isError) this.#failed += 1;
    else this.#latencyMs = before + (durationMs - before) * WEIGHT;
  }

  snapshot(): ServerCalls {
    const { inFlight } = this;
    return {
      total: this.#total,
      failed: this.#failed,
      inFlight,
      latencyMs: this.#latencyMs,
      ...(this.#waitedMs > 0 && { waitedMs: this.#waitedMs }),
    };
  }
}
