// Tasks under the same key run one after the other, those under different keys at once.

export class OneByOne {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as the task does; one that fails does not keep the next from running. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  /** Resolves when all that is under way now has ended, whichever way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
