// The JWTs with which people have come, each until it ends: the one of the last request counts, for everything that is
// done for that person with those rights.

import type { CallerJwt } from "../../core/types/caller.ts";
import type { SubjectToken } from "../../core/types/authorization.ts";
import type { Clock, Timer } from "../../util/clock.ts";

/** Beyond that, whoever came longest ago has to come again first. */
const MOST_PRESENTED = 10_000;

export class PresentedJwts {
  readonly #clock: Clock;
  readonly #onEnd: (holder: string) => void;
  readonly #current = new Map<string, { jwt: CallerJwt; end: Timer }>();

  /** `onEnd` hears of a holder whose last JWT has ended. */
  constructor(clock: Clock, onEnd: (holder: string) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  present(holder: string, jwt: CallerJwt): void {
    const before = this.#current.get(holder);
    const left = jwt.expiresAt - this.#clock.now();
    if (before?.jwt.text === jwt.text || left <= 0) return;
    before?.end.cancel();
    this.#current.delete(holder);
    const [oldest] = this.#current.keys();
    if (oldest !== undefined && this.#current.size >= MOST_PRESENTED) this.#forget(oldest);
    this.#current.set(holder, { jwt, end: this.#clock.later(left, () => this.#forget(holder)) });
  }

  find(holder: string): SubjectToken | undefined {
    const found = this.#current.get(holder)?.jwt;
    return found !== undefined && found.expiresAt > this.#clock.now() ? found : undefined;
  }

  close(): void {
    for (const { end } of this.#current.values()) end.cancel();
    this.#current.clear();
  }

  #forget(holder: string): void {
    this.#current.get(holder)?.end.cancel();
    this.#current.delete(holder);
    this.#onEnd(holder);
  }
}

/** One person with the rights of one JWT. */
export function holderOf(person: string, { rights }: Pick<CallerJwt, "rights">): string {
  return JSON.stringify([person, rights]);
}
