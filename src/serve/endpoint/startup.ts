// Waits for servers that are still starting when the first clients come: some clients list once, when they connect, and
// an empty list would be all they ever see. Clients give up on a board that does not answer, so the wait is short, and
// only for servers of which nobody knows anything yet. Clients are told when others are there.

import type { BoardBase } from "../../core/types/board.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { type Clock, within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";

interface Wait {
  /** Milliseconds after the endpoint was made. Common clients give up after ten seconds. */
  ms: number;
  isFor: (server: ServerStatus) => boolean;
}

const isStarting = ({ state }: ServerStatus): boolean => state.kind === "starting";

const LISTS: Wait = {
  ms: 8000,
  // One that has failed, in this run or a few minutes ago, will most likely fail again.
  isFor: (server) => isStarting(server) && !server.cached && server.lastError === undefined,
};
/** They describe servers that have started. */
const OWN_RESOURCES: Wait = { ms: 5000, isFor: isStarting };

const LIST_METHODS: ReadonlySet<string> = new Set([
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
]);

export class Startup {
  readonly #board: Pick<BoardBase, "status" | "on">;
  readonly #clock: Clock;
  readonly #since: number;
  #isOver = false;

  constructor(board: Pick<BoardBase, "status" | "on">, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** What a request of this method waits for; undefined if for nothing, as always once every server has started. */
  before(method: string): Promise<void> | undefined {
    return LIST_METHODS.has(method) ? this.#before(LISTS) : undefined;
  }

  /** What a request for one of the board's own resources waits for. */
  beforeOwnResource(): Promise<void> | undefined {
    return this.#before(OWN_RESOURCES);
  }

  #before(wait: Wait): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const left = this.#since + wait.ms - this.#clock.monotonic();
    const servers = this.#board.status();
    // A server that starts again later keeps nobody waiting.
    this.#isOver = this.#since + LISTS.ms <= this.#clock.monotonic() || !servers.some(isStarting);
    return left > 0 && servers.some(wait.isFor) ? this.#wait(wait, left) : undefined;
  }

  async #wait({ isFor }: Wait, ms: number): Promise<void> {
    const settled = deferred();
    const off = this.#board.on("server", () => {
      if (!this.#board.status().some(isFor)) settled.resolve();
    });
    await within(this.#clock, ms, settled.promise);
    off();
  }
}
