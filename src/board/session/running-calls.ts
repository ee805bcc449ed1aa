// The calls that a session has under way: they end with it, on servers that go on without it too.

export class RunningCalls {
  readonly #running = new Set<AbortController>();

  /** Runs a call that also ends when `given` aborts. */
  async run<Outcome>(
    given: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const ending = new AbortController();
    const onAbort = (): void => ending.abort(given?.reason);
    if (given?.aborted) onAbort();
    given?.addEventListener("abort", onAbort, { once: true });
    this.#running.add(ending);
    try {
      return await call(ending.signal);
    } finally {
      given?.removeEventListener("abort", onAbort);
      this.#running.delete(ending);
    }
  }

  end(): void {
    for (const each of this.#running) each.abort();
  }
}
