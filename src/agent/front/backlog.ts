// What the relay cannot do at once: keeps what comes for a session in order, bounds the bytes that wait, and knows when
// everything is done.

import { DEFAULT_MAX_MESSAGE_BYTES } from "@agentclientprotocol/sdk";

/** Bytes of the client's messages that may wait for an agent, before the client has to wait too. */
const MAX_WAITING = 2 * DEFAULT_MAX_MESSAGE_BYTES;

export class Backlog {
  readonly #onFault: (error: unknown) => void;
  /** What has to be done for a session before its next message is passed on. */
  readonly #changes = new Map<string, Promise<unknown>>();
  readonly #work = new Set<Promise<unknown>>();
  #waitingBytes = 0;
  #whenLess: (() => void)[] = [];

  /** `onFault` gets what work in the background rejects with. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Undefined while there is room for another message; otherwise resolves when there is. */
  room(): Promise<void> | undefined {
    if (this.#waitingBytes <= MAX_WAITING) return undefined;
    return new Promise((resolve) => this.#whenLess.push(resolve));
  }

  /** Resolves when all work is done that was there when it was called. */
  async done(): Promise<void> {
    await Promise.all(this.#work);
  }

  inBackground(work: Promise<unknown>): void {
    const done = work
      .catch((error: unknown) => this.#onFault(error))
      .finally(() => this.#work.delete(done));
    this.#work.add(done);
  }

  /** Resolves or rejects as `promise` does, and counts the bytes until then. */
  async waiting(bytes: Buffer, promise: Promise<unknown>): Promise<void> {
    this.#waitingBytes += bytes.length;
    try {
      await promise;
    } finally {
      this.#waitingBytes -= bytes.length;
      if (this.#waitingBytes <= MAX_WAITING) for (const go of this.#whenLess.splice(0)) go();
    }
  }

  /** Resolves when what has to be done for the session now is done. */
  settled(sessionId: string): Promise<unknown> {
    return Promise.resolve(this.#changes.get(sessionId));
  }

  /** Does `task` at once, or after what has to be done for the session first. */
  inOrder(sessionId: string, bytes: Buffer, task: () => void): void {
    const change = this.#changes.get(sessionId);
    if (change === undefined) return task();
    // In its turn it may find that something else has to be done first.
    this.#set(sessionId, this.waiting(bytes, change).then(task));
  }

  /** What comes for the session meanwhile waits. `task` must not reject. */
  change(sessionId: string, task: () => Promise<void>): void {
    this.#set(sessionId, Promise.resolve(this.#changes.get(sessionId)).then(task));
  }

  #set(sessionId: string, change: Promise<unknown>): void {
    this.#changes.set(sessionId, change);
    const end = (): void => {
      if (this.#changes.get(sessionId) === change) this.#changes.delete(sessionId);
    };
    this.inBackground(change.finally(end));
  }
}
