// What of the code has run, as V8 counts it: block by block, without changing the code.

import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";

export class Coverage {
  #session = new Session();
  #isWatched;
  /** By URL: one byte for each character of the script, 1 where it has run. */
  #seen = new Map();

  /** To be made before the code is loaded. `isWatched(url)` says which scripts count. */
  constructor(isWatched) {
    this.#isWatched = isWatched;
    // Code that is thrown away and compiled again would count as new.
    setFlagsFromString("--no-flush-bytecode");
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** What ran since the last time and had never run before: by URL, as what was seen would be with it. Empty if nothing is new. */
  take() {
    const { result } = this.#post("Profiler.takePreciseCoverage");
    const news = new Map();
    for (const { url, functions } of result) {
      if (!this.#isWatched(url)) continue;
      const now = painted(functions);
      const seen = this.#seen.get(url);
      if (hasMore(now, seen)) news.set(url, union(now, seen));
    }
    return news;
  }

  /** From here on it is not new. */
  keep(news) {
    for (const [url, seen] of news) this.#seen.set(url, union(seen, this.#seen.get(url)));
  }

  /** Of what has run so far. */
  get urls() {
    return [...this.#seen.keys()];
  }

  /** How much of the scripts whose URL passes has run: characters that have, and all. */
  of(passes) {
    let [ran, all] = [0, 0];
    for (const [url, seen] of this.#seen) {
      if (!passes(url)) continue;
      all += seen.length;
      for (const each of seen) ran += each;
    }
    return { ran, all };
  }

  #post(method, params) {
    let outcome;
    // Within one thread it answers at once.
    this.#session.post(method, params, (error, result) => (outcome = { error, result }));
    if (outcome.error) throw new Error(outcome.error.message);
    return outcome.result;
  }
}

/** Inner functions and blocks come behind those that they are in, and say better whether they have run. */
function painted(functions) {
  const end = Math.max(...functions.map(({ ranges: [whole] }) => whole.endOffset));
  const paint = new Uint8Array(end);
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      paint.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
  }
  return paint;
}

function hasMore(now, seen) {
  for (let at = 0; at < now.length; at += 1) if (now[at] === 1 && seen?.[at] !== 1) return true;
  return false;
}

function union(now, seen = now) {
  const [long, short] = now.length >= seen.length ? [now, seen] : [seen, now];
  const both = long.slice();
  for (let at = 0; at < short.length; at += 1) if (short[at] === 1) both[at] = 1;
  return both;
}
