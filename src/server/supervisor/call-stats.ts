// Counts one server's calls and measures their latency, for `status`.

/** The weight of the newest call in the running mean of the latency. */
const WEIGHT = 0.2;

export class CallStats {
  #total = 0;
  #failed = 0;
  #inFlight = 0;
  #latencyMs: number | undefined;

  get inFlight(): number {
    return this.#inFlight;
  }

  started(): void {
    this.#total += 1;
    this.#inFlight += 1;
  }

  ended(ms: number, failed: boolean): void {
    this.#inFlight -= 1;
    if (failed) this.#failed += 1;
    else
      this.#latencyMs =
        this.#latencyMs === undefined ? ms : this.#latencyMs + (ms - this.#latencyMs) * WEIGHT;
  }

  snapshot(): { total: number; failed: number; inFlight: number; latencyMs?: number } {
    return {
      total: this.#total,
      failed: this.#failed,
      inFlight: this.#inFlight,
      latencyMs: this.#latencyMs,
    };
  }
}
