// A map for what comes and goes with every call. A plain Map that lives long grows a new table every few dozen
// entries, and each old table keeps the next one and what was in it: none of it is freed before the next full garbage
// collection. Here a table holds only small cells, which are emptied when an entry goes.

interface Cell<Value> {
  value: Value | undefined;
}

export class PassingMap<Key, Value extends object> {
  readonly #cells = new Map<Key, Cell<Value>>();

  get size(): number {
    return this.#cells.size;
  }

  has(key: Key): boolean {
    return this.#cells.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.take(key);
    this.#cells.set(key, { value });
  }

  /** Removes the entry and returns its value, if there is one. */
  take(key: Key): Value | undefined {
    const cell = this.#cells.get(key);
    if (cell === undefined) return undefined;
    const { value } = cell;
    cell.value = undefined;
    this.#cells.delete(key);
    return value;
  }

  keys(): IterableIterator<Key> {
    return this.#cells.keys();
  }

  *values(): Generator<Value> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value;
  }

  *[Symbol.iterator](): Generator<[Key, Value]> {
    for (const [key, { value }] of this.#cells) if (value !== undefined) yield [key, value];
  }
}
