// One big result at a time, from the request to the parsed text, in milliseconds.

import { median } from "../lib/stats.mjs";

/** A call that takes this long is its own warm-up: nothing is gained by waiting for another. */
const SLOW_MS = 3_000;

export async function prepare({ open, serve, scenario }) {
  const { bytes, callsPerRound } = scenario;
  const client = await open(...serve([`--big=${bytes}`]));
  const first = await timeOne(client, bytes);

  return {
    async sample() {
      const times = first < SLOW_MS ? await timeMany(client, bytes, callsPerRound) : [first];
      return { ms: median(times), peakRss: process.resourceUsage().maxRSS / 1_024 };
    },
    close: () => client.close(),
  };
}

async function timeMany(client, bytes, count) {
  const times = [];
  while (times.length < count) times.push(await timeOne(client, bytes));
  return times;
}

async function timeOne(client, bytes) {
  const before = performance.now();
  const text = client.text(await client.call("big", { bytes }));
  const took = performance.now() - before;
  if (text.length !== bytes) throw new Error(`expected ${bytes} bytes: ${text.slice(0, 200)}`);
  return took;
}
