// Maps a list with a promise for each item, a few at a time: a list may be longer than a process can have files open, and what
// is under way for each item takes memory.

/** How many files to open at a time: enough to keep the disk busy, and far from the most that a process can have open. */
export const READERS = 16;

/** Never has more than `limit` under way. After a failure no further one begins, and it rejects when the others have ended. */
export async function boundedMap<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) {
      if (hasFailed) return;
      try {
        results[at] = await map(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(limit, items.length) }, worker),
  );
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  return results;
}
