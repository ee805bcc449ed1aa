// The search of one board: over the tools that it lists, so that each session finds what it has and no more.

import type { CatalogSearch } from "../catalog/search/search.ts";
import type { BoardBase } from "../types/board.ts";
import { unknownServer } from "../types/errors.ts";
import { isSearchable } from "../types/include.ts";
import type { Logger } from "../types/logger.ts";
import type { Embed, SearchOptions, ToolHit, ToolSearch } from "../types/search.ts";
import type { ServerStatus } from "../types/server-status.ts";
import type { Tool } from "../types/tool.ts";
import type { Clock } from "../../util/clock.ts";

export interface BoardSearchOptions {
  embed?: Embed | undefined;
  clock: Clock;
  logger: Logger;
  /** The public names of tools that copy another, each with that of the other. */
  doubles: () => ReadonlyMap<string, string>;
}

export class BoardSearch implements ToolSearch {
  readonly #board: Pick<BoardBase, "tools" | "status" | "on">;
  readonly #options: BoardSearchOptions;
  #catalog: Promise<CatalogSearch> | undefined;
  /** What the servers tell about themselves. Asked for again when one of them has changed its state. */
  #about: ReadonlyMap<string, string> | undefined;

  constructor(board: Pick<BoardBase, "tools" | "status" | "on">, options: BoardSearchOptions) {
    this.#board = board;
    this.#options = options;
  }

  async search(
    query: string | readonly string[],
    { limit, servers, all = false }: SearchOptions = {},
  ): Promise<ToolHit[]> {
    this.#catalog ??= this.#open();
    const catalog = await this.#catalog;
    const only = servers && this.#known(servers);
    this.#about ??= introductions(this.#board.status());
    // All that are listed are in the index, so that it stays the same whoever asks.
    return catalog.search(query, this.#board.tools({ all: true }), {
      limit,
      about: this.#about,
      doubles: this.#options.doubles(),
      isWanted: (tool) =>
        (all || isSearchable(tool)) && (only === undefined || only.has(serverOf(tool))),
    });
  }

  async #open(): Promise<CatalogSearch> {
    const { embed, clock, logger } = this.#options;
    this.#board.on("server", () => {
      this.#about = undefined;
    });
    // Loaded here, since most boards are never searched.
    const { CatalogSearch: Search } = await import("../catalog/search/search.ts");
    return new Search(embed && { embed, clock, logger });
  }

  #known(servers: readonly string[]): ReadonlySet<string> {
    const names = [...this.#board.status().map(({ name }) => name), NATIVE];
    const unknown = servers.find((name) => !names.includes(name));
    if (unknown !== undefined) throw unknownServer(unknown, names);
    return new Set(servers);
  }
}

const NATIVE = "native";

/** How servers have introduced themselves last: ranks stay the same while one of them is down. */
function introductions(servers: readonly ServerStatus[]): ReadonlyMap<string, string> {
  return new Map(
    servers.flatMap(({ name, identity }) =>
      identity === undefined
        ? []
        : [[name, `${identity.name ?? ""} ${identity.instructions ?? ""}`.slice(0, 1000)] as const],
    ),
  );
}

function serverOf({ source }: Tool): string {
  return source.kind === "mcp" ? source.server : NATIVE;
}
