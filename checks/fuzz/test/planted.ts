// Targets with faults that a test of the harness looks for.

import { oneLine } from "../../../src/util/text.ts";
import type { Target } from "../../../test/fuzz/target.ts";

export const TARGET_NAMES = ["throws", "dies", "strays", "sound"];

/** Nobody guesses all of it at once: what reaches the next letter has to be kept. */
function isReached(input: Buffer): boolean {
  const at = input.indexOf("f");
  if (at === -1) return false;
  if (input[at + 1] !== 0x75) return false;
  return input[at + 2] === 0x7a;
}

export async function openTarget(name: string): Promise<Target> {
  return {
    about: "a planted fault",
    covers: ["util/text.ts"],
    seeds: () => ["if"],
    run(input) {
      if (name === "sound") oneLine(input.toString());
      if (!isReached(input)) return;
      if (name === "throws") throw new TypeError("planted");
      if (name === "dies") process.kill(process.pid, "SIGKILL");
      if (name === "strays") void Promise.reject(new Error("nobody waits for it"));
    },
  };
}
