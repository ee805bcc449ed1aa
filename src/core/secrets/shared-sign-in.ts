// One sign-in for all who need its token at a time. The token is kept until it expires, or until somebody says that it is
// of no use any more.

import { cancelled } from "../types/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";

interface Expiring {
  /** On the monotonic clock. Absent if it does not expire, as far as is known. */
  expiresAt?: number;
}

/**
 * Until when a token that lives for so many seconds is used: until `margin` milliseconds before its end, since it could
 * expire on the way, but at least for half of its life. `asked` is when it was asked for.
 */
export function usableUntil(asked: number, seconds: number, margin: number): number {
  return asked + Math.max(seconds * 1000 - margin, seconds * 500);
}

export class SharedSignIn<Token extends Expiring> {
  readonly #signIn: (signal: AbortSignal) => Promise<Token>;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #signedIn: Promise<Token> | undefined;

  constructor(clock: Clock, signIn: (signal: AbortSignal) => Promise<Token>) {
    this.#clock = clock;
    this.#signIn = signIn;
  }

  /** `refused` is a token that the service has not accepted: it signs in again, unless somebody else has. */
  async token(signal: AbortSignal, refused?: Token): Promise<Token> {
    const current = this.#signedIn;
    const known = current && (await untilAborted(current, signal, cancelled));
    const { expiresAt = Infinity } = known ?? {};
    if (known !== undefined && known !== refused && expiresAt > this.#clock.monotonic()) {
      return known;
    }
    if (this.#signedIn === current || this.#signedIn === undefined) {
      // Not with the signal of one of those who wait for it.
      const signingIn = this.#signIn(this.#closing.signal);
      signingIn.catch(() => this.#forget(signingIn));
      this.#signedIn = signingIn;
    }
    return untilAborted(this.#signedIn, signal, cancelled);
  }

  /** The next one signs in again, if the token is one that is of no use. */
  async forgetIf(isUseless: (token: Token) => boolean): Promise<void> {
    const current = this.#signedIn;
    const known = await current?.catch(() => undefined);
    if (known !== undefined && isUseless(known)) this.#forget(current);
  }

  close(): void {
    this.#closing.abort();
  }

  #forget(signedIn: Promise<Token> | undefined): void {
    if (this.#signedIn === signedIn) this.#signedIn = undefined;
  }
}
