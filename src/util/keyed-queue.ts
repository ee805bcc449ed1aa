// A queue per key: tasks with the same key run one after the other, tasks with different keys at the same time.

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles like the task. The next task runs even if this one fails. */
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

  /** Resolves when all tasks that are queued now have settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
