// The tokens that a gateway knows, in memory: found by their text or their id. It notes when each was last used.

import type { GatewayToken } from "../types/shared-state.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { isSameHash, type StoredToken, tokenHash } from "./stored-token.ts";

/** How exactly it notes when a token was used, and how soon. */
const NOTE_EVERY = 60_000;
const NOTE_AFTER = 1000;

export class KnownTokens {
  readonly #clock: Pick<Clock, "now" | "later">;
  readonly #store: (used: ReadonlyMap<string, number>) => Promise<unknown>;
  #byHash = new Map<string, StoredToken>();
  #byId = new Map<string, StoredToken>();
  /** By id, when each was used, until that is stored. */
  #used = new Map<string, number>();
  /** When the use of each was last stored, or is about to be. */
  readonly #noted = new Map<string, number>();
  #timer: Timer | undefined;
  #storing: Promise<unknown> = Promise.resolve();

  /** `store` keeps when tokens were used, by their ids. If it rejects, that is forgotten: nobody relies on it. */
  constructor(
    clock: Pick<Clock, "now" | "later">,
    store: (used: ReadonlyMap<string, number>) => Promise<unknown>,
  ) {
    this.#clock = clock;
    this.#store = store;
  }

  replace(tokens: readonly StoredToken[]): void {
    this.#byHash = new Map(tokens.map((each) => [each.hash, each]));
    this.#byId = new Map(tokens.map((each) => [each.id, each]));
  }

  /** Hashes the text once; a token that is known costs nothing else. */
  find(text: string): GatewayToken | undefined {
    const hash = tokenHash(text);
    const token = this.#byHash.get(hash);
    if (token === undefined || !isSameHash(token.hash, hash) || this.#hasEnded(token)) {
      return undefined;
    }
    this.#noteUse(token.id);
    return token;
  }

  current(id: string): GatewayToken | undefined {
    const token = this.#byId.get(id);
    return token === undefined || this.#hasEnded(token) ? undefined : token;
  }

  async close(): Promise<void> {
    this.#storeUses();
    await this.#storing;
  }

  #hasEnded({ expiresAt = Infinity }: GatewayToken): boolean {
    return expiresAt <= this.#clock.now();
  }

  #noteUse(id: string): void {
    const now = this.#clock.now();
    if (Math.abs(now - (this.#noted.get(id) ?? -Infinity)) < NOTE_EVERY) return;
    this.#noted.set(id, now);
    this.#used.set(id, now);
    this.#timer ??= this.#clock.later(NOTE_AFTER, () => this.#storeUses());
  }

  #storeUses(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    this.#storing = this.#storing.then(() => this.#store(used)).catch(() => {});
  }
}
