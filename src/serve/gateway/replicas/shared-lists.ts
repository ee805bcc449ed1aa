// Lists of servers that several gateways reach. When one gateway sees a list change, the others ask for it anew, so that their
// clients hear of it too.

import { serversOf } from "../../../core/board/board.ts";
import type { Board } from "../../../core/types/board.ts";
import type { Invalidation } from "../../../core/types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";

/** Lists change in bursts: the first change is told at once, and those within this time after it together. */
const GATHER_MS = 20;

/** How it stands with the lists of one server. */
interface Lists {
  /** How often they are being asked for because another gateway has told of a change. */
  asked: number;
  /** They were others when they were asked for because of that. */
  isFound: boolean;
  /** The server has said that they are others. */
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
  #telling: Timer | undefined;
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
      if (isToBeTold(listsOf(servers, server), how)) this.#tell();
    });
    return () => {
      this.#boards.delete(board);
      off();
    };
  }

  close(): void {
    this.#off();
    this.#telling?.cancel();
    this.#boards.clear();
  }

  #tell(): void {
    const { changes, clock } = this.#options;
    if (this.#telling !== undefined) {
      this.#isDue = true;
      return;
    }
    void changes.publish("lists");
    this.#telling = clock.later(GATHER_MS, () => {
      this.#telling = undefined;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#tell();
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
 * What is found because another gateway has told of it is not told again: a server that gives another list every time would
 * keep the gateways busy with each other. It may be newer than what the others have found, though, and then the server says
 * so itself, to one of the gateways. That is told once for each time that it says so, whichever of the two comes first.
 */
function isToBeTold(lists: Lists, how: "changed" | "said"): boolean {
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
