// The search of one board: over the tools that it lists, so that each session finds what it has.

import { isSearchable } from "../model/include.ts";
import type { SearchOptions, ToolHit, ToolSearch } from "../model/search.ts";
import type { Tool } from "../model/tool.ts";

const DEFAULT_LIMIT = 10;

export interface BoardSearchOptions {
  /** Every tool of the board that is listed, those included that models are not shown. */
  tools: () => readonly Tool[];
}

export class BoardSearch implements ToolSearch {
  readonly #options: BoardSearchOptions;

  constructor(options: BoardSearchOptions) {
    this.#options = options;
  }

  async search(
    query: string | readonly string[],
    { limit = DEFAULT_LIMIT, servers, all = false }: SearchOptions = {},
  ): Promise<ToolHit[]> {
    const words = [query].flat().join(" ").toLowerCase().split(/\W+/u).filter(Boolean);
    const isWanted = (tool: Tool): boolean =>
      (all || isSearchable(tool)) && (servers === undefined || servers.includes(serverOf(tool)));
    return this.#options
      .tools()
      .filter(isWanted)
      .map((tool) => {
        const text = `${tool.name} ${tool.description}`.toLowerCase();
        return { tool, score: words.filter((word) => text.includes(word)).length };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }
}

function serverOf({ source }: Tool): string {
  return source.kind === "mcp" ? source.server : "native";
}
