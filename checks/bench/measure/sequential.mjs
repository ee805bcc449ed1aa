// One call after another: what a single call takes, in microseconds.

import { percentile } from "../lib/stats.mjs";
import { echo } from "./echo.mjs";

export async function prepare({ open, serve, scenario }) {
  const client = await open(...serve());
  for (let i = 0; i < scenario.warmUp; i += 1) await echo(client, i);

  return {
    async sample() {
      const times = new Float64Array(scenario.callsPerRound);
      for (let i = 0; i < times.length; i += 1) {
        const before = performance.now();
        await echo(client, i);
        times[i] = (performance.now() - before) * 1_000;
      }
      return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
    },
    close: () => client.close(),
  };
}
