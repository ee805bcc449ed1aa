// Puts a file in the place of another at once, or a directory in a free place: whoever reads sees the old one or the new one, never
// a part of one. On Windows that may have to wait, so only code that can do without renames by itself.

import { rename as renameFile } from "node:fs/promises";
import { type Clock, systemClock } from "./clock.ts";
import { hasErrorCode } from "./error-code.ts";

export interface ReplaceOptions {
  clock?: Clock;
  platform?: NodeJS.Platform;
  rename?: (from: string, to: string) => Promise<void>;
}

/** Readers, virus scanners and indexers have a file open for some milliseconds, on a busy machine for seconds. */
const GIVE_UP_MS = 5000;
const TRY_AGAIN_MS = 10;

/** Rejects as `rename` does. On Windows nothing can take the place of a file that is open: it tries again for five seconds. */
export async function replaceFile(
  from: string,
  to: string,
  {
    clock = systemClock,
    platform = process.platform,
    rename = (...paths) => renameFile(...paths),
  }: ReplaceOptions = {},
): Promise<void> {
  const deadline = clock.monotonic() + GIVE_UP_MS;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const mayPass = platform === "win32" && hasErrorCode(error, "EPERM", "EACCES", "EBUSY");
      if (!mayPass || clock.monotonic() >= deadline) throw error;
    }
    await new Promise<void>((resolve) => {
      clock.after(TRY_AGAIN_MS, resolve);
    });
  }
}
