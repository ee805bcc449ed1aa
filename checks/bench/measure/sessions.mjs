// What one more session takes: the memory of the gateway and of all that it started, with many idle sessions
// beside the first.

import { setTimeout as delay } from "node:timers/promises";
import { echo } from "./echo.mjs";

const AT_ONCE = 16;
/** Until memory that is only waiting to be freed is gone. */
const SETTLE_MS = 2_000;

export async function prepare({ open, serve, scenario, contender }) {
  const client = await open(...serve());
  const sessions = Math.min(scenario.sessions, contender.maxSessions ?? Infinity);
  for (let i = 0; i < scenario.warmUp; i += 1) await echo(client, i);

  return {
    async sample() {
      await delay(SETTLE_MS);
      const before = client.memoryBytes();
      let left = sessions;
      const lane = async () => {
        while (left > 0) {
          left -= 1;
          await client.openSession();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      await delay(SETTLE_MS);
      const grown = client.memoryBytes() - before;
      // The first one goes on as before.
      await echo(client, 1);
      return { kbPerSession: grown / 1_024 / sessions, sessions };
    },
    close: () => client.close(),
  };
}
