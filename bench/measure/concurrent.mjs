// A fixed number of calls in flight: throughput, and the CPU time the client spends on a call.

import { echo } from "./echo.mjs";

export async function prepare({ open, serve, scenario }) {
  const { warmUp, callsPerRound, inFlight } = scenario;
  const client = await open(...serve());
  await keepInFlight(client, warmUp, inFlight);

  return {
    async sample() {
      const cpuBefore = process.cpuUsage();
      const before = performance.now();
      await keepInFlight(client, callsPerRound, inFlight);
      const seconds = (performance.now() - before) / 1_000;
      const cpu = process.cpuUsage(cpuBefore);
      return {
        callsPerSecond: callsPerRound / seconds,
        cpuPerCall: (cpu.user + cpu.system) / callsPerRound,
      };
    },
    close: () => client.close(),
  };
}

async function keepInFlight(client, calls, inFlight) {
  let next = 0;
  const lane = async () => {
    while (next < calls) {
      next += 1;
      await echo(client, next);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
