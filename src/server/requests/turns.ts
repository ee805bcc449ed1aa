// One question at a time: a person reads one, and a flood of them is not kept for later.

import { untilAborted } from "../../util/abort.ts";

/** Questions that wait for the one before them. */
const MAX_WAITING = 8;

interface Line {
  last: Promise<void>;
  waiting: number;
}

export class Turns {
  /** By whom they are put to. */
  readonly #lines = new WeakMap<object, Line>();

  /**
   * Runs `task` when those before it are done or given up. Resolves to undefined, without running it,
   * where too many wait already; rejects with `signal` when that aborts, whatever the task does then.
   */
  async take<Result>(
    whom: object,
    signal: AbortSignal,
    task: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const line = this.#lines.get(whom) ?? { last: Promise.resolve(), waiting: 0 };
    this.#lines.set(whom, line);
    if (line.waiting >= MAX_WAITING) return undefined;
    line.waiting += 1;
    const turn = line.last
      .then(async () => {
        signal.throwIfAborted();
        return await untilAborted(task(), signal, () => new Error("nobody waits for it any more"));
      })
      .finally(() => {
        line.waiting -= 1;
      });
    line.last = turn.then(
      () => {},
      () => {},
    );
    return untilAborted(turn, signal, () => new Error("nobody waits for it any more"));
  }
}
