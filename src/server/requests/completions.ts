// Hears that a person is through with a page: `notifications/elicitation/complete`, by the page's id.

/** Servers need not say so, and those that never do must not cost memory without end. */
const MAX_REMEMBERED = 100;

export class Completions {
  readonly #waiting = new Map<string, { done: Promise<void>; resolve: () => void }>();

  /** Never settles where the server never says so. */
  of(id: string | undefined): Promise<void> {
    if (id === undefined) return new Promise(() => {});
    const known = this.#waiting.get(id);
    if (known !== undefined) return known.done;
    let resolve = (): void => {};
    const done = new Promise<void>((settle) => {
      resolve = settle;
    });
    this.#waiting.set(id, { done, resolve });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_REMEMBERED && oldest !== undefined) this.#waiting.delete(oldest);
    return done;
  }

  heard(id: unknown): void {
    if (typeof id !== "string") return;
    this.#waiting.get(id)?.resolve();
    this.#waiting.delete(id);
  }
}
