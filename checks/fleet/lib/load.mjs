// Calls through lanes, for a time or a number of them. Every call has a number of its own in a run of the rig, and is sent once.

import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = 20;
/** The lanes begin one after another within this time: nobody has that many callers who all call at the same moment. */
const BEGIN_MS = 50;
let lastNumber = 0;
const running = new Set();

/**
 * Starts to make calls, one at a time in each lane. `stop()` resolves to what came of them when all are answered: `outcomes` by number,
 * each with `kind`, `text`, and the milliseconds since the epoch `from` and `to`.
 */
export function startLoad(lanes) {
  const outcomes = new Map();
  const run = { isOver: false };
  running.add(run);
  const began = performance.now();
  const work = async (lane, at) => {
    await delay((at * BEGIN_MS) / lanes.length);
    while (!run.isOver) {
      lastNumber += 1;
      const number = lastNumber;
      const from = Date.now();
      const start = performance.now();
      let outcome = await lane.call(number);
      while (outcome.kind === "unsent" && !run.isOver) {
        // Nobody listens: it was not sent, so it may be sent now.
        await delay(PAUSE_MS);
        outcome = await lane.call(number);
      }
      outcomes.set(number, { ...outcome, from, to: Date.now(), took: performance.now() - start });
      if (outcome.kind !== "counted") await delay(PAUSE_MS);
    }
  };
  const working = Promise.all(lanes.map(work));
  return {
    get answered() {
      return outcomes.size;
    },
    get isOver() {
      return run.isOver;
    },
    async stop() {
      run.isOver = true;
      running.delete(run);
      const seconds = (performance.now() - began) / 1_000;
      const answered = outcomes.size;
      await working;
      return { outcomes, seconds, rate: answered / seconds };
    },
  };
}

/** Ends what a part that failed has left behind. */
export function endLoads() {
  for (const run of running) run.isOver = true;
  running.clear();
}

export async function loadFor(lanes, ms) {
  const load = startLoad(lanes);
  await delay(ms);
  return load.stop();
}

/** What was not counted, in words, with how many there were of each. */
export function failuresIn(outcomes) {
  const counts = new Map();
  for (const { kind, text = "" } of outcomes.values()) {
    if (kind === "counted") continue;
    const what = `${kind}: ${inWords(text)}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}

/** Without tags and the numbers of calls, so that the same failures are counted together. */
function inWords(text) {
  return text
    .replaceAll(/<[^>]*>|\s+/g, " ")
    .replaceAll(/\d{4,}/g, "…")
    .replaceAll(/ {2,}/g, " ")
    .slice(0, 160)
    .trim();
}

export function countOf(counts) {
  return [...counts.values()].reduce((sum, each) => sum + each, 0);
}

export function sayFailures(counts) {
  return [...counts].map(([what, count]) => `${count} × ${what}`).join("; ");
}

/** How many of these calls ran more than once, and how many with a result did not run. */
export function judgeExecutions(outcomes, executions) {
  const ran = new Map();
  for (const { number } of executions) {
    if (outcomes.has(number)) ran.set(number, (ran.get(number) ?? 0) + 1);
  }
  const twice = [...ran.values()].filter((times) => times > 1).length;
  const untrue = [...outcomes].filter(
    ([number, { kind }]) => kind === "counted" && !ran.has(number),
  ).length;
  return { twice, untrue };
}

export function median(numbers) {
  return percentile(numbers, 0.5);
}

export function percentile(numbers, share) {
  const sorted = [...numbers].toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
