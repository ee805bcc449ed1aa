// Asks one question at a time: a person can read only one, and a flood of questions must not pile up.

import { untilAborted } from "./abort.ts";

/** How many questions may wait, the one that is being asked included. */
const MAX_WAITING = 8;

interface Waiting {
  last: Promise<unknown>;
  count: number;
}

export class QuestionQueue {
  /** By who is asked. */
  readonly #queues = new WeakMap<object, Waiting>();

  /**
   * Runs `question` when the ones before it to the same `asked` are answered or given up. Resolves to
   * undefined without running it if too many wait already; rejects as soon as `signal` aborts.
   */
  async ask<Result>(
    asked: object,
    signal: AbortSignal,
    question: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const queue = this.#queues.get(asked) ?? { last: Promise.resolve(), count: 0 };
    this.#queues.set(asked, queue);
    if (queue.count >= MAX_WAITING) return undefined;
    queue.count += 1;
    const answer = queue.last
      .then(async () => {
        signal.throwIfAborted();
        return await untilAborted(question(), signal, givenUp);
      })
      .finally(() => {
        queue.count -= 1;
      });
    queue.last = answer.catch(() => {});
    return untilAborted(answer, signal, givenUp);
  }
}

function givenUp(): Error {
  return new Error("nobody waits for the answer any more");
}
