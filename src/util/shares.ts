// What several use together: there is so much of it, and nobody gets more than a part, so that one of them alone cannot
// take what the others need.

/** Why somebody gets no more: they have their part, or all of it is in use. */
export type Shortage = "own" | "all";

export class Shares {
  readonly most: number;
  /** What one of them gets at most. */
  readonly each: number;
  readonly #taken = new Map<string | undefined, number>();
  #used = 0;

  /** `each` is a quarter unless it is given. */
  constructor(most: number, each = Math.max(1, Math.floor(most / 4))) {
    this.most = most;
    this.each = each;
  }

  /** Undefined if `who` has it now. `giveBack` must follow. Without `who`, it is for all of them. */
  take(who: string | undefined, amount = 1): Shortage | undefined {
    const own = (this.#taken.get(who) ?? 0) + amount;
    if (who !== undefined && own > this.each) return "own";
    if (this.#used + amount > this.most) return "all";
    this.#used += amount;
    this.#taken.set(who, own);
    return undefined;
  }

  giveBack(who: string | undefined, amount = 1): void {
    const left = (this.#taken.get(who) ?? 0) - amount;
    this.#used -= amount;
    if (left > 0) this.#taken.set(who, left);
    else this.#taken.delete(who);
  }
}
