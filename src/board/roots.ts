// The current roots of a board: the directories that its servers may ask for.

import { basename, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PlugboardError } from "../model/errors.ts";
import type { Root, RootsSource } from "../model/roots.ts";

export class BoardRoots implements RootsSource {
  readonly #cwd: string;
  readonly #listeners = new Set<() => void>();
  #roots: readonly Root[] | undefined;

  /** `given` holds `file:` URLs, or directories relative to `cwd`. Throws INVALID_ARGUMENTS. */
  constructor(given: readonly string[] | undefined, cwd: string) {
    this.#cwd = cwd;
    this.#roots = given?.map((each) => toRoot(each, cwd));
  }

  list(): readonly Root[] | undefined {
    return this.#roots;
  }

  /** Throws INVALID_ARGUMENTS; then nothing has changed. */
  set(given: readonly string[]): void {
    const roots = given.map((each) => toRoot(each, this.#cwd));
    const isSame = JSON.stringify(roots) === JSON.stringify(this.#roots);
    this.#roots = roots;
    if (isSame) return;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function toRoot(given: string, cwd: string): Root {
  // A scheme has two letters or more: `C:\dir` is a path.
  const isUrl = /^[a-z][a-z\d+.-]+:\/\//i.test(given);
  const url = isUrl ? given : pathToFileURL(resolve(cwd, given)).href;
  try {
    const { href } = new URL(url);
    // Throws for other schemes, and for URLs that name another machine.
    const path = fileURLToPath(href);
    return { uri: href, name: basename(path) || path };
  } catch (error) {
    throw new PlugboardError("INVALID_ARGUMENTS", `'${given}' is not a directory on this machine`, {
      cause: error,
    });
  }
}
