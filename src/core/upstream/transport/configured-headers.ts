// The headers that are configured for a server. Where they come from secrets, they are got again when the server refuses them,
// so that a rotated secret heals without a restart.

import { isDeepStrictEqual } from "node:util";
import { isRemote, type ResolvedTarget } from "../../types/server-definition.ts";

type Headers = Readonly<Record<string, string>>;

export class ConfiguredHeaders {
  #current: Headers;
  #renew: ResolvedTarget["renew"];
  #renewing: Promise<void> | undefined;

  /** `renew` is absent where no secret is in them. */
  constructor(headers: Headers, renew?: ResolvedTarget["renew"]) {
    this.#current = headers;
    this.#renew = renew;
  }

  get current(): Headers {
    return this.#current;
  }

  get areSecret(): boolean {
    return this.#renew !== undefined;
  }

  /** Whether there are other headers than those that the server has refused. Rejects if a secret cannot be had. */
  async renew(refused: Headers): Promise<boolean> {
    if (this.#current !== refused) return true;
    if (this.#renew === undefined) return false;
    // Once for all requests that were refused.
    this.#renewing ??= this.#getAgain(this.#renew).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    return this.#current !== refused;
  }

  async #getAgain(get: NonNullable<ResolvedTarget["renew"]>): Promise<void> {
    const { target, renew } = await get();
    const headers = isRemote(target) ? target.headers : {};
    this.#renew = renew;
    if (!isDeepStrictEqual({ ...headers }, { ...this.#current })) this.#current = headers;
  }
}
