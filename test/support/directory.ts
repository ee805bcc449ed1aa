// Directories of a test's own.

import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A new directory, by its real path. To be called in a test or in `beforeEach`: it is gone when the test and every
 * `afterEach` are done.
 */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-")));
  onTestFinished(() => removeDirectory(directory));
  return directory;
}

/** Tries again where something is still written into it: what ends in the background may end a moment later. */
export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}
