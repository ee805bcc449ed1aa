// Holds what comes and goes with every call, under ids that count up. Each id has a place in a ring, so that adding
// and removing is one step into an array. A Map that lives long grows a new table every few dozen entries instead,
// and its old tables keep what was in them alive. An entry that is still there when its place is needed
// again has waited for long, and moves to a map.

import { PassingMap } from "./passing-map.ts";

/** A power of two. Rarely are more calls in flight, and each connection has these places. */
const PLACES = 512;

export class IdRing<Entry extends { readonly id: number }> {
  readonly #places: (Entry | undefined)[] = Array.from<undefined>({ length: PLACES });
  readonly #stragglers = new PassingMap<number, Entry>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Its id must not be in use. */
  add(entry: Entry): void {
    const place = entry.id % PLACES;
    const before = this.#places[place];
    if (before !== undefined) this.#stragglers.set(before.id, before);
    this.#places[place] = entry;
    this.#size += 1;
  }

  get(id: number): Entry | undefined {
    const entry = this.#places[id % PLACES];
    return entry?.id === id ? entry : this.#stragglers.get(id);
  }

  /** Removes the entry and returns it, if there is one. */
  take(id: number): Entry | undefined {
    const place = id % PLACES;
    let entry = this.#places[place];
    if (entry?.id === id) this.#places[place] = undefined;
    else entry = this.#stragglers.take(id);
    if (entry !== undefined) this.#size -= 1;
    return entry;
  }

  /** All that are there now, by id. */
  all(): Entry[] {
    const inRing = this.#places.filter((entry) => entry !== undefined);
    return [...this.#stragglers.values(), ...inRing].sort((one, other) => one.id - other.id);
  }
}
