// A fixed number of calls in flight: throughput, and the CPU time that the client spends on a call; behind a
// gateway, the CPU time that the gateway spends.

import { echo } from "./echo.mjs";

export async function prepare({ open, serve, scenario }) {
  const { warmUp, warmUpMs, callsPerRound, roundMs, inFlight } = scenario;
  const client = await open(...serve());
  await keepInFlight(client, { calls: warmUp, ms: warmUpMs, inFlight });
  const { cpuMicros = ownCpuMicros } = client;

  return {
    async sample() {
      const cpuBefore = cpuMicros();
      const before = performance.now();
      const calls = await keepInFlight(client, { calls: callsPerRound, ms: roundMs, inFlight });
      const seconds = (performance.now() - before) / 1_000;
      return {
        callsPerSecond: calls / seconds,
        cpuPerCall: (cpuMicros() - cpuBefore) / calls,
      };
    },
    close: () => client.close(),
  };
}

function ownCpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Until so many calls were made, or so much time has passed. Resolves to the number of calls. */
async function keepInFlight(client, { calls, ms = Infinity, inFlight }) {
  const end = performance.now() + ms;
  let next = 0;
  const lane = async () => {
    while (next < calls && performance.now() < end) {
      next += 1;
      await echo(client, next);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return next;
}
