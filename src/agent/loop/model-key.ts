// The key of a model. Where it is a secret, it is got again when the provider refuses it, so that a rotated key heals without
// opening the model again.

/** Gets the key, from its provider rather than from memory if `refused` is given. */
export type GetKey = (refused?: string) => Promise<string | undefined>;

type Fetch = typeof globalThis.fetch;

export class ModelKey {
  /** What the SDK was given. It puts this into the headers of every request. */
  readonly first: string | undefined;
  readonly #getAgain: GetKey | undefined;
  readonly #known = new Set<string>();
  #current: string | undefined;
  #renewing: Promise<void> | undefined;

  /** `getAgain` is absent where the key is no secret of a provider. */
  constructor(first: string | undefined, getAgain?: GetKey) {
    this.first = first;
    this.#getAgain = getAgain;
    this.#use(first);
  }

  /** Removes the key, and every key before it, from a text. */
  redact(text: string): string {
    return [...this.#known].reduce((told, key) => told.replaceAll(key, "[key]"), text);
  }

  /** Sends the key that is valid now, and once more if the provider refuses it and there is another one. */
  withCurrent(fetch: Fetch): Fetch {
    if (this.first === undefined || this.#getAgain === undefined) return fetch;
    return async (input, init = {}) => {
      const used = this.#current;
      const response = await fetch(input, this.#signed(init));
      if (response.status !== 401 || !(await this.#renew(used))) return response;
      await response.body?.cancel();
      return fetch(input, this.#signed(init));
    };
  }

  #signed(init: RequestInit): RequestInit {
    const { first } = this;
    const current = this.#current;
    if (first === undefined || current === undefined || current === first) return init;
    const headers = [...new Headers(init.headers)].map(([name, value]): [string, string] => [
      name,
      value.replaceAll(first, () => current),
    ]);
    return { ...init, headers };
  }

  /** Whether there is another key than the refused one. Rejects where it cannot be had. */
  async #renew(refused: string | undefined): Promise<boolean> {
    if (this.#current !== refused) return true;
    this.#renewing ??= (async () => this.#use(await this.#getAgain?.(refused)))().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    return this.#current !== refused;
  }

  #use(key: string | undefined): void {
    if (!key) return;
    this.#current = key;
    this.#known.add(key);
  }
}
