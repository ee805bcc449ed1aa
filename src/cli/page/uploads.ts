// The bundles that people have sent from a browser: checked and unpacked, not started, and kept while somebody may still
// decide to add them.

import { existsSync } from "node:fs";
import { PlugboardError } from "../../core/types/errors.ts";
import type { Timer } from "../../util/clock.ts";
import type { CliContext } from "../context.ts";
import { removeUnusedBundles } from "../servers/bundles.ts";
import { type FoundOffer, readSentBundle } from "../servers/offer.ts";
import { openServerFile } from "../servers/server-file.ts";

/** Longer than a change can be looked at. */
const KEPT_MS = 15 * 60_000;
const MOST_KEPT = 16;

interface Kept {
  found: FoundOffer;
  timer: Timer;
}

export class Uploads {
  readonly #context: CliContext;
  /** By the hash of the file, the oldest first. */
  readonly #kept = new Map<string, Kept>();
  #isBusy = false;

  constructor(context: CliContext) {
    this.#context = context;
    // What was sent to a gateway that has ended since, and was not added.
    this.#removeUnused();
  }

  /** One at a time, since each may fill a disk. Rejects with a PlugboardError for what is no bundle. */
  async take(
    name: string,
    chunks: AsyncIterable<Buffer>,
  ): Promise<{ id: string; found: FoundOffer }> {
    if (this.#isBusy) {
      throw new PlugboardError("RATE_LIMITED", "another file is on its way already", {
        hint: "try again when it is there",
      });
    }
    this.#isBusy = true;
    try {
      const context = this.#context;
      const found = await readSentBundle(
        name,
        chunks,
        await openServerFile(undefined, context),
        context,
      );
      const id = found.offer.provenance.hash;
      this.#kept.get(id)?.timer.cancel();
      this.#kept.delete(id);
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined && this.#kept.size >= MOST_KEPT) this.#forget(oldest);
      const timer = context.clock.later(KEPT_MS, () => this.#forget(id));
      this.#kept.set(id, { found, timer });
      return { id, found };
    } finally {
      this.#isBusy = false;
    }
  }

  /** Throws INVALID_ARGUMENTS if it is gone: too much time has passed, or what nobody used was removed. */
  find(id: string): FoundOffer {
    const found = this.#kept.get(id)?.found;
    const { cwd = "" } = found?.offer.build(new Map()) ?? {};
    if (found !== undefined && existsSync(cwd)) return found;
    throw new PlugboardError("INVALID_ARGUMENTS", "the file that you sent is no longer kept", {
      hint: "choose it again",
    });
  }

  #forget(id: string): void {
    this.#kept.get(id)?.timer.cancel();
    this.#kept.delete(id);
    // What it was unpacked to goes with it, unless it was added.
    if (this.#kept.size === 0) this.#removeUnused();
  }

  #removeUnused(): void {
    void openServerFile(undefined, this.#context)
      .then((file) => removeUnusedBundles(file, this.#context))
      .catch(() => {});
  }
}
