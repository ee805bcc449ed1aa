// Waits for servers that are still starting when the first clients come: some clients list once, when they connect, and
// an empty list would be all they ever see. Clients give up on a server that does not answer, so the wait is short.

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

/** What a server says about how to use it is heard only once, when a client begins. */
const INSTRUCTIONS: Wait = { ms: 5000, isFor: isStarting };
/** A server whose lists are known from an earlier run needs no wait. */
const LISTS: Wait = { ms: 8000, isFor: (server) => isStarting(server) && !server.cached };

const WAITS: ReadonlyMap<string, Wait> = new Map([
  ["initialize", INSTRUCTIONS],
  ["server/discover", INSTRUCTIONS],
  ["tools/list", LISTS],
  ["resources/list", LISTS],
  ["resources/templates/list", LISTS],
  ["prompts/list", LISTS],
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
    const wait = this.#isOver ? undefined : WAITS.get(method);
    if (wait === undefined) return undefined;
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
