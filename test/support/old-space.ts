// What entries that come and go leave behind in the old part of the heap, which only a full garbage collection frees.

import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Something that weighs more than its place in a table. */
export function payload(key: number): number[] {
  return Array.from({ length: 100 }, () => key);
}

/** How many bytes have become old when many entries have come and gone, of which a few are there at a time. */
export function oldSpaceAfter(set: (key: number) => void, remove: (key: number) => void): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options?: { type: "minor" }) => void;
  gc();
  set(-1);
  remove(-1);
  // From here on the table itself is old.
  for (let round = 0; round < 3; round += 1) gc({ type: "minor" });
  const before = oldSpace();
  for (let key = 0; key < 10_000; key += 1) {
    set(key);
    remove(key - 32);
  }
  gc({ type: "minor" });
  gc({ type: "minor" });
  return oldSpace() - before;
}

function oldSpace(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space");
  return space?.space_used_size ?? 0;
}

/** The same for a plain map. */
export function oldSpaceOfMap(): number {
  const plain = new Map<number, number[]>();
  return oldSpaceAfter(
    (key) => plain.set(key, payload(key)),
    (key) => plain.delete(key),
  );
}

/** Everything that nobody holds is gone then. What a WeakRef has shown stays until the turn is over. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  await new Promise((resolve) => setImmediate(resolve));
  (runInNewContext("gc") as () => void)();
}
