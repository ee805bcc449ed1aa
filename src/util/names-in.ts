// The names in a directory, for whoever has to know them at once.

import { readdirSync } from "node:fs";

/** None for a directory that is not there or cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
