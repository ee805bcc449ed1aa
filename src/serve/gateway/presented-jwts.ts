// The JWTs with which people have come, each until it ends: the one of the last request counts, for everything that is
// done for that person with those rights.

import type { CallerJwt } from "../../core/types/caller.ts";
import type { SubjectToken } from "../../core/types/authorization.ts";
import type { Clock, Timer } from "../../util/clock.ts";

/** Beyond that, whoever came longest ago has to come again first. */
const MOST_PRESENTED = 10_000;

export class PresentedJwts {
  readonly #clock: Clock;
  readonly #onEnd: (subject: string) => void;
  readonly #current = new Map<string, { jwt: CallerJwt; end: Timer }>();

  /** `onEnd` hears of a subject whose last JWT has ended. */
  constructor(clock: Clock, onEnd: (subject: string) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  present(subject: string, jwt: CallerJwt): void {
    const before = this.#current.get(subject);
    const left = jwt.expiresAt - this.#clock.now();
    if (before?.jwt.text === jwt.text || left <= 0) return;
    before?.end.cancel();
    this.#current.delete(subject);
    const [oldest] = this.#current.keys();
    if (oldest !== undefined && this.#current.size >= MOST_PRESENTED) this.#forget(oldest);
    this.#current.set(subject, { jwt, end: this.#clock.later(left, () => this.#forget(subject)) });
  }

  find(subject: string): SubjectToken | undefined {
    const found = this.#current.get(subject)?.jwt;
    return found !== undefined && found.expiresAt > this.#clock.now() ? found : undefined;
  }

  close(): void {
    for (const { end } of this.#current.values()) end.cancel();
    this.#current.clear();
  }

  #forget(subject: string): void {
    this.#current.get(subject)?.end.cancel();
    this.#current.delete(subject);
    this.#onEnd(subject);
  }
}

/** One person with the rights of one JWT. */
export function subjectOf(person: string, { rights }: Pick<CallerJwt, "rights">): string {
  return JSON.stringify([person, rights]);
}
