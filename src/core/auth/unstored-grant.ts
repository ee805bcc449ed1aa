// The grant that is not stored yet. A refresh token works once: if its successor cannot be stored, it counts here in place of
// what is stored, and is stored as soon as that is possible.

import type { Clock, Timer } from "../../util/clock.ts";
import { reasonOf } from "../../util/system-problem.ts";
import type { Logger } from "../types/logger.ts";
import type { AuthStore, Grant } from "./store.ts";

/** Whoever comes first when the store is back uses what is stored there: another process would redeem the old token again. */
const RETRY_MS = 250;

interface Held {
  key: string;
  /** What is stored there, as far as is known. */
  before: Grant | undefined;
  grant: Grant;
}

export interface UnstoredGrantOptions {
  store: AuthStore;
  clock: Clock;
  logger: Logger;
  /** Ends the attempts, after a last one. */
  signal: AbortSignal;
  /** Called some time after a failure. It is to call `store`. */
  again: () => void;
}

export class UnstoredGrant {
  readonly #options: UnstoredGrantOptions;
  #held: Held | undefined;
  #trying: Promise<boolean> | undefined;
  #timer: Timer | undefined;

  constructor(options: UnstoredGrantOptions) {
    this.#options = options;
    const last = (): void => {
      this.#timer?.cancel();
      this.store().catch(() => {});
    };
    options.signal.addEventListener("abort", last, { once: true });
  }

  /** Undefined if what is stored under this key counts. */
  of(key: string): Grant | undefined {
    return this.#held?.key === key ? this.#held.grant : undefined;
  }

  /** It counts from now on. */
  hold(held: Held): void {
    this.#held = held;
  }

  release(): void {
    this.#held = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** False if something else was stored since: that counts then. Rejects if nothing can be stored, and tries again later. */
  store(): Promise<boolean> {
    return (
      this.#trying ??
      this.#try(({ key, before, grant }) => this.#options.store.replaceGrant(key, before, grant))
    );
  }

  /** Like `store`, in place of whatever is stored. */
  async overwrite(): Promise<void> {
    await this.#trying?.catch(() => {});
    await this.#try(async ({ key, grant }) => {
      await this.#options.store.write("grant", key, grant);
      return true;
    });
  }

  #try(task: (held: Held) => Promise<boolean>): Promise<boolean> {
    const held = this.#held;
    if (held === undefined) return Promise.resolve(true);
    const trying = task(held).then(
      (isStored) => {
        if (this.#held === held) this.release();
        return isStored;
      },
      (error: unknown) => {
        this.#tryLater(error);
        throw error;
      },
    );
    this.#trying = trying.finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  #tryLater(error: unknown): void {
    const { clock, logger, signal, again } = this.#options;
    // Said once, until it has been stored.
    if (this.#timer === undefined) {
      const reason = reasonOf(error);
      logger.warn("the tokens cannot be stored; they hold here meanwhile", { reason });
    }
    if (signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = clock.later(RETRY_MS, again);
  }
}
