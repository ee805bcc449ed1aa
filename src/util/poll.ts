// Waits for something that has no event, by asking again and again.

import type { Clock } from "./clock.ts";

const LONGEST_PAUSE = 50;

/** Calls `isDone` with growing pauses until it says yes or `ms` have passed; resolves to its last answer. */
export async function pollUntil(
  isDone: () => Promise<boolean>,
  ms: number,
  clock: Clock,
): Promise<boolean> {
  const deadline = clock.monotonic() + ms;
  for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    if (await isDone()) return true;
    const left = deadline - clock.monotonic();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pause, left), resolve);
    });
  }
}
