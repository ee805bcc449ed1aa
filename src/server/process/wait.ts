// Waiting for something that has no event.

import type { Clock } from "../../util/clock.ts";

const LONGEST_PAUSE = 50;

/** Asks `done`, at first often and then less so, until it says yes or `ms` have passed. */
export async function until(
  done: () => Promise<boolean>,
  ms: number,
  clock: Clock,
): Promise<boolean> {
  const deadline = clock.monotonic() + ms;
  for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    if (await done()) return true;
    const left = deadline - clock.monotonic();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pause, left), resolve);
    });
  }
}
