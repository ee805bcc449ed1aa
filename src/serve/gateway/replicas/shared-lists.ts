// The lists of servers that several gateways reach. When one gateway sees a list change, the others list the server again, so
// that their clients hear of it too.

import { serversOf } from "../../../core/board/board.ts";
import type { Board } from "../../../core/types/board.ts";
import type { Invalidation } from "../../../core/types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";

/** Lists change in bursts: the first change is published at once, and those within this time after it together. */
const GATHER_MS = 20;

/** The lists of one server, since a change of them was last published from here. */
interface Lists {
  /** How many requests for them are under way because another gateway has published a change. */
  asked: number;
  /** Such a request has found them changed. */
  isFound: boolean;
  /** The server has said that they have changed. */
  isSaid: boolean;
}

export interface SharedListsOptions {
  changes: Invalidation;
  clock: Clock;
}

export class SharedLists {
  readonly #options: SharedListsOptions;
  readonly #boards = new Map<Board, Map<string, Lists>>();
  readonly #off: () => void;
  /** While it is set, changes are gathered. */
  #gathering: Timer | undefined;
  #isDue = false;

  constructor(options: SharedListsOptions) {
    this.#options = options;
    this.#off = options.changes.subscribe("lists", () => this.#listAgain());
  }

  /** Returns a function that ends it. */
  watch(board: Board): () => void {
    const servers = new Map<string, Lists>();
    this.#boards.set(board, servers);
    const off = serversOf(board).onLists((server, how) => {
      if (mustPublish(listsOf(servers, server), how)) this.#publish();
    });
    return () => {
      this.#boards.delete(board);
      off();
    };
  }

  close(): void {
    this.#off();
    this.#gathering?.cancel();
    this.#boards.clear();
  }

  #publish(): void {
    const { changes, clock } = this.#options;
    if (this.#gathering !== undefined) {
      this.#isDue = true;
      return;
    }
    void changes.publish("lists");
    this.#gathering = clock.later(GATHER_MS, () => {
      this.#gathering = undefined;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#publish();
    });
  }

  #listAgain(): void {
    for (const [board, servers] of this.#boards) {
      for (const { server, listed } of serversOf(board).listAgain()) {
        const lists = listsOf(servers, server);
        lists.asked += 1;
        void listed.finally(() => {
          lists.asked -= 1;
        });
      }
    }
  }
}

/**
 * A change that is found because another gateway has published one is not published again: a server that gives another list
 * every time would keep the gateways busy with each other. But it may be a newer change than the other gateway's. Then the
 * server says so itself, to one of the gateways, and that gateway publishes it: once for each time that the server says so,
 * whether that comes before or after the change is found.
 */
function mustPublish(lists: Lists, how: "changed" | "said"): boolean {
  if (how === "said") lists.isSaid = true;
  else if (lists.asked > 0) lists.isFound = true;
  const isOwn = how === "changed" && lists.asked === 0;
  if (!isOwn && !(lists.isSaid && lists.isFound)) return false;
  lists.isSaid = false;
  lists.isFound = false;
  return true;
}

function listsOf(servers: Map<string, Lists>, server: string): Lists {
  const known = servers.get(server) ?? { asked: 0, isFound: false, isSaid: false };
  servers.set(server, known);
  return known;
}
