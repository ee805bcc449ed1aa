// Asks one question at a time: a person can read only one, and a flood of questions must not pile up. Those who ask take
// turns, so that one with many questions does not keep the others from asking.

import { untilAborted } from "./abort.ts";

/** How many questions of one who asks may wait, the one that is being asked included. */
const MAX_WAITING = 8;

interface Asked {
  /** By who asks: the questions that wait. The first of the first is next. */
  waiting: Map<string, (() => Promise<void>)[]>;
  /** By who asks, how many wait or are being asked. */
  counts: Map<string, number>;
  isAsking: boolean;
}

export class QuestionQueue {
  /** By who is asked. */
  readonly #queues = new WeakMap<object, Asked>();

  /**
   * Runs `question` of `from` when it is its turn with `asked`: the ones before it are answered or given up. Resolves to
   * undefined without running it if too many of `from` wait already; rejects as soon as `signal` aborts.
   */
  async ask<Result>(
    asked: object,
    from: string,
    signal: AbortSignal,
    question: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const queue = this.#queues.get(asked) ?? {
      waiting: new Map(),
      counts: new Map(),
      isAsking: false,
    };
    this.#queues.set(asked, queue);
    const { waiting, counts } = queue;
    const count = counts.get(from) ?? 0;
    if (count >= MAX_WAITING) return undefined;
    counts.set(from, count + 1);
    const answer = new Promise<void>((resolve) => {
      const begin = (): Promise<void> => {
        resolve();
        return ended;
      };
      const own = waiting.get(from);
      if (own === undefined) waiting.set(from, [begin]);
      else own.push(begin);
    }).then(async () => {
      signal.throwIfAborted();
      return await untilAborted(question(), signal, givenUp);
    });
    const ended = answer.then(
      () => left(counts, from),
      () => left(counts, from),
    );
    if (!queue.isAsking) void askNext(queue);
    return untilAborted(answer, signal, givenUp);
  }
}

async function askNext(queue: Asked): Promise<void> {
  const { waiting } = queue;
  queue.isAsking = true;
  for (let [first] = waiting; first !== undefined; [first] = waiting) {
    const [from, questions] = first;
    const [question, ...rest] = questions;
    waiting.delete(from);
    // Behind all others.
    if (rest.length > 0) waiting.set(from, rest);
    await question?.();
  }
  queue.isAsking = false;
}

function left(counts: Map<string, number>, from: string): void {
  const count = (counts.get(from) ?? 1) - 1;
  if (count === 0) counts.delete(from);
  else counts.set(from, count);
}

function givenUp(): Error {
  return new Error("nobody waits for the answer any more");
}
