// A list, in no order, of what comes and goes with every call. Adding and removing leave nothing behind, while a Map or
// a Set that lives long keeps old tables, and with them the entries that were in it, until the next full garbage
// collection.

/** What a list can hold, in one list at a time. */
export interface Listed {
  /** Where it is in the list. The list sets it. */
  at: number;
}

export class PassingList<Entry extends Listed> implements Iterable<Entry> {
  readonly #entries: Entry[] = [];

  get length(): number {
    return this.#entries.length;
  }

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    entry.at = this.#entries.length;
    this.#entries.push(entry);
  }

  /** It must be in the list. The last entry fills the gap. */
  remove({ at }: Entry): void {
    const last = this.#entries.pop();
    if (last === undefined || last.at === at) return;
    last.at = at;
    this.#entries[at] = last;
  }

  /** Entries may be added and removed meanwhile: those that are there now are visited. */
  [Symbol.iterator](): IterableIterator<Entry> {
    return [...this.#entries].values();
  }
}
