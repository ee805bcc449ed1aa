// Random numbers that a seed decides, so that a run can be repeated.

/** The generator of Marsaglia with 32 bits of state, `xorshift32`. */
export class Random {
  #state;

  constructor(seed) {
    // Zero would stay zero, and small seeds begin alike.
    this.#state = Math.imul(seed, 0x9e3779b1) | 1;
    for (let round = 0; round < 8; round += 1) this.#next();
  }

  /** An integer from 0 to `below` - 1. */
  below(below) {
    return this.#next() % below;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  isOneIn(times) {
    return this.below(times) === 0;
  }

  #next() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }
}
