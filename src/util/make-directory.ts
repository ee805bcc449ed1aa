// Makes a directory with its parents, readable only by its owner.

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrorCode } from "./error-code.ts";

/** Unlike Node's own `recursive`, it ends where the system answers ENOENT for ever, as it does under /proc. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return;
    const parent = dirname(path);
    if (!hasErrorCode(error, "ENOENT") || parent === path) throw error;
    await makeDirectory(parent);
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      if (!hasErrorCode(again, "EEXIST")) throw again;
    });
  }
}
