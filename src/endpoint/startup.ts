// Waits for servers that are still starting when the first clients come: what a client is told and lists then has what
// the servers have. Clients give up on a server that does not answer, so the wait is short.

import type { BoardBase } from "../model/board.ts";
import { type Clock, within } from "../util/clock.ts";

/** From when the endpoint is there. Some clients give up on a server that has not answered after ten seconds. */
const INSTRUCTIONS_MS = 5000;
const LISTS_MS = 8000;

export class Startup {
  readonly #board: Pick<BoardBase, "status" | "on">;
  readonly #clock: Clock;
  readonly #since: number;
  #settled: Promise<void> | undefined;
  #isOver = false;

  constructor(board: Pick<BoardBase, "status" | "on">, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** What servers say about themselves is only heard once, when a client begins. */
  forInstructions(): Promise<void> {
    return this.#wait(INSTRUCTIONS_MS);
  }

  /** What is missing in a list comes later, as a change; not every client takes notice of that. */
  forLists(): Promise<void> {
    return this.#wait(LISTS_MS);
  }

  async #wait(ms: number): Promise<void> {
    const left = this.#since + ms - this.#clock.monotonic();
    if (this.#isOver || left <= 0) return;
    this.#settled ??= this.#untilSettled();
    await within(this.#clock, left, this.#settled);
  }

  #untilSettled(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#board.status().some(({ state }) => state.kind === "starting")) return;
        this.#isOver = true;
        off();
        resolve();
      };
      const off = this.#board.on("server", look);
      look();
    });
  }
}
