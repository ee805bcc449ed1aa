// Work that takes milliseconds, one piece in each turn of the event loop and the callers in rotation: what else there is to do
// waits for one piece, not for all of them, and one caller's work does not wait for all of another's.

/** After a piece that took longer, everything else gets as much time as it took. */
const SHORT_MS = 4;

export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>();
  #isDue = false;

  /** Resolves to what `work` returns, or rejects with what it throws. */
  run<Result>(who: string, work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const piece = (): void => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const own = this.#waiting.get(who);
      if (own === undefined) this.#waiting.set(who, [piece]);
      else own.push(piece);
      if (!this.#isDue) this.#schedule(0);
    });
  }

  #schedule(pause: number): void {
    this.#isDue = true;
    if (pause > SHORT_MS) setTimeout(this.#next, pause);
    else setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isDue = false;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [who, pieces] = first;
    this.#waiting.delete(who);
    const [piece, ...rest] = pieces;
    // Behind all others.
    if (rest.length > 0) this.#waiting.set(who, rest);
    const began = performance.now();
    piece?.();
    // Even if nobody waits: the next piece may come before this turn is over.
    this.#schedule(performance.now() - began);
  };
}
