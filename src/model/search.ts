// Search for tools by what they do, as you use it.

import type { Tool } from "./tool.ts";

export interface ToolHit {
  tool: Tool;
  /** Higher is better. Compare scores of one search only. */
  score: number;
}

export interface SearchOptions {
  /** How many tools to return at most. Default 10. */
  limit?: number;
  /** Names of the only servers whose tools are searched. `native` stands for your own tools. Default: all. */
  servers?: readonly string[];
  /** Also finds tools that models are not shown: those of `include: "manual"` and those for a server's own app. */
  all?: boolean;
}

export interface ToolSearch {
  /**
   * Ranks the tools of the board by how well they fit the query, best first. Of several queries each gives its best
   * tool in turn. Finds only tools that `tools()` lists and that models are shown. Starts no server.
   */
  search(query: string | readonly string[], options?: SearchOptions): Promise<ToolHit[]>;
}

/** Turns texts into vectors, one for each text, all of the same length. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
