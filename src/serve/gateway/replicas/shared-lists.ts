// Lists of servers that several gateways reach. When one gateway sees a list change, the others ask for it anew, so that their
// clients hear of it too.

import { serversOf } from "../../../core/board/board.ts";
import type { Board } from "../../../core/types/board.ts";
import type { Invalidation } from "../../../core/types/shared-state.ts";
import { type Clock, type Timer, within } from "../../../util/clock.ts";

/**
 * A change that this gateway finds because another one has reported it is not reported again: otherwise a server that gives
 * another list every time would keep the gateways busy with each other. Tools are listed at once, unless a server is slow;
 * resources and prompts within this time.
 */
const FOLLOWS_MS = 2000;
/** Lists change in bursts: the first change is told at once, and those within this time after it together. */
const GATHER_MS = 20;

export interface SharedListsOptions {
  changes: Invalidation;
  clock: Clock;
}

export class SharedLists {
  readonly #options: SharedListsOptions;
  readonly #boards = new Set<Board>();
  readonly #off: () => void;
  /** How many lists of tools, and of resources and prompts, follow from a message. */
  #listing = 0;
  #following = 0;
  /** While it is set, changes are gathered. */
  #telling: Timer | undefined;
  #isDue = false;

  constructor(options: SharedListsOptions) {
    this.#options = options;
    this.#off = options.changes.subscribe("lists", () => void this.#listAgain());
  }

  /** Returns a function that ends it. */
  watch(board: Board): () => void {
    this.#boards.add(board);
    const off = [
      board.on("tools", () => this.#changed(this.#listing)),
      board.on("appTools", () => this.#changed(this.#listing)),
      board.on("prompts", () => this.#changed(this.#following)),
      board.on("resources", ({ change }) => change === "list" && this.#changed(this.#following)),
    ];
    return () => {
      this.#boards.delete(board);
      for (const each of off) each();
    };
  }

  close(): void {
    this.#off();
    this.#telling?.cancel();
    this.#boards.clear();
  }

  #changed(caused: number): void {
    const { changes, clock } = this.#options;
    if (caused > 0) return;
    if (this.#telling !== undefined) {
      this.#isDue = true;
      return;
    }
    void changes.publish("lists");
    this.#telling = clock.later(GATHER_MS, () => {
      this.#telling = undefined;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#changed(0);
    });
  }

  async #listAgain(): Promise<void> {
    this.#listing += 1;
    this.#following += 1;
    const listed = [...this.#boards].map((board) => serversOf(board).listAgain());
    // Changes of other servers are not told meanwhile, so a slow server must not keep them back for longer.
    await within(this.#options.clock, FOLLOWS_MS, Promise.allSettled(listed));
    this.#listing -= 1;
    this.#options.clock.later(FOLLOWS_MS, () => {
      this.#following -= 1;
    });
  }
}
