// Makes an input as short as it can be and still go wrong.

const LONGEST_MS = 120_000;

/**
 * Takes parts away, large ones first, and then makes what is left plain. `isStill(input)` resolves to whether it goes wrong in the
 * same way; it is asked at most `tries` times, and for two minutes.
 */
export async function minimise(input, isStill, tries = 2000) {
  const search = new Search(input, isStill, tries);
  let isShorter = true;
  while (isShorter) {
    isShorter = false;
    for (const size of sizes(search.best.length)) {
      for (let at = 0; at < search.best.length;) {
        const { best } = search;
        const without = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
        if (await search.attempt(without)) isShorter = true;
        else at += size;
      }
    }
  }
  for (let at = 0; at < search.best.length; at += 1) {
    if (PLAIN.includes(search.best[at])) continue;
    for (const plain of PLAIN) {
      const candidate = Buffer.from(search.best);
      candidate[at] = plain;
      if (await search.attempt(candidate)) break;
    }
  }
  return search.best;
}

/** `a`, `0` and a blank. */
const PLAIN = [0x61, 0x30, 0x20];

/** The shortest input so far that goes wrong, and how often another may still be tried. */
class Search {
  best;
  #isStill;
  #left;
  #deadline = performance.now() + LONGEST_MS;

  constructor(input, isStill, tries) {
    this.best = input;
    this.#isStill = isStill;
    this.#left = tries;
  }

  /** Resolves to whether it is the best one now. */
  async attempt(candidate) {
    if (this.#left <= 0 || performance.now() > this.#deadline) return false;
    this.#left -= 1;
    if (candidate.equals(this.best) || !(await this.#isStill(candidate))) return false;
    this.best = candidate;
    return true;
  }
}

/** Half of the length, a quarter, and so on to one. */
function* sizes(length) {
  for (let size = length >> 1; size >= 1; size >>= 1) yield size;
  if (length === 1) yield 1;
}
