// Counts one server's calls and measures their latency, for `status`.

/** The weight of the newest call in the running mean of the latency. */
const WEIGHT = 0.2;

export class CallStats {
  inFlight = 0;
  #total = 0;
  #failed = 0;
  #latencyMs: number | undefined;

  started(): void {
    this.#total += 1;
    this.inFlight += 1;
  }

  ended(ms: number, failed: boolean): void {
    this.inFlight -= 1;
    const before = this.#latencyMs ?? ms;
    if (failed) this.#failed += 1;
    else this.#latencyMs = before + (ms - before) * WEIGHT;
  }

  snapshot(): { total: number; failed: number; inFlight: number; latencyMs?: number } {
    const { inFlight } = this;
    return { total: this.#total, failed: this.#failed, inFlight, latencyMs: this.#latencyMs };
  }
}
