// What each key has used on a day, in one file that several processes add to.

import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import type { Clock } from "../../../util/clock.ts";
import { dayOf, type UsageStore } from "../counted-days.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const PATIENCE_MS = 2000;

export function usageFile(stateDir: string, clock: Clock): UsageStore {
  const file = join(stateDir, "gateway", "usage.json");
  const read = async (day: number): Promise<Map<string, number>> => {
    const value = await readJsonFile(file, MAX_BYTES);
    if (!isJsonObject(value) || value.day !== day || !isJsonObject(value.used)) return new Map();
    return new Map(
      Object.entries(value.used).flatMap(([key, used]): [string, number][] =>
        typeof used === "number" ? [[key, used]] : [],
      ),
    );
  };
  return {
    add: (day, used) =>
      withLock(
        `${file}.lock`,
        clock,
        async () => {
          const value = await readJsonFile(file, MAX_BYTES);
          const last = isJsonObject(value) && typeof value.day === "number" ? value.day : day;
          const stored = await read(day);
          for (const [key, more] of used) stored.set(key, (stored.get(key) ?? 0) + more);
          // It holds one day: what is late for an earlier one is of no use to anybody. A day that has not come yet was written
          // while the clock was wrong: it would keep every day until then from being counted.
          if (last <= day || last > dayOf(clock.now()))
            await writeJsonFile(file, { day, used: Object.fromEntries(stored) });
          return new Map([...used.keys()].map((key) => [key, stored.get(key) ?? 0]));
        },
        PATIENCE_MS,
      ),
    async read(day, keys) {
      const stored = await read(day);
      return new Map(
        keys.flatMap((key): [string, number][] => {
          const used = stored.get(key);
          return used === undefined ? [] : [[key, used]];
        }),
      );
    },
  };
}
