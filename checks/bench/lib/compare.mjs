// Takes the samples of one scenario: the contenders by turns, so that noise hits all of them alike.

import { startWorker } from "./worker-process.mjs";

/** A contender whose step takes this long is not asked again: it has shown what it can do. */
const SLOW_MS = 10_000;

/** Returns one `{ contender, samples, failure }` per contender, in the order given. */
export async function compare({ scenario, contenders, ...setting }) {
  const entries = contenders.map((contender) => ({ contender, samples: [], failure: undefined }));
  const start = ({ contender }) => startWorker({ ...setting, contender, scenario });
  if (scenario.together) await takeTogether(entries, scenario.rounds, start);
  else await takeApart(entries, scenario.rounds, start);
  return entries;
}

async function takeTogether(entries, rounds, start) {
  const workers = new Map();
  try {
    for (const entry of entries) {
      workers.set(entry, start(entry));
      entry.failure = (await workers.get(entry).prepare()).failure;
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const entry of rotated(entries, round)) await takeSample(entry, workers.get(entry));
    }
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()));
  }
}

async function takeApart(entries, rounds, start) {
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of rotated(entries, round)) {
      if (entry.failure !== undefined || entry.slow) continue;
      const before = performance.now();
      const worker = start(entry);
      try {
        entry.failure = (await worker.prepare()).failure;
        await takeSample(entry, worker);
      } finally {
        await worker.close();
      }
      entry.slow = performance.now() - before > SLOW_MS;
    }
  }
}

async function takeSample(entry, worker) {
  if (entry.failure !== undefined) return;
  const { sample, failure } = await worker.sample();
  if (failure === undefined) entry.samples.push(sample);
  else entry.failure = failure;
}

function rotated(list, by) {
  const shift = by % list.length;
  return [...list.slice(shift), ...list.slice(0, shift)];
}
