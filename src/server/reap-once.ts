// Ends what killed hosts left behind, once in the life of this process.

import type { Logger } from "../model/logger.ts";
import type { Clock } from "../util/clock.ts";
import { reapOrphans } from "./process/reap.ts";

let reaped: Promise<void> | undefined;

/** Never rejects. */
export function reapOnce(clock: Clock, logger: Logger): Promise<void> {
  reaped ??= reapOrphans({ clock, logger }).then((ended) => {
    if (ended.length > 0) {
      logger.warn("ended what an earlier run had left behind", {
        pids: ended.map(({ pid }) => pid),
      });
    }
  });
  return reaped;
}
