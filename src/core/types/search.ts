// Search for tools by what they do, as you use it.

import type { Tool } from "./tool.ts";

export interface ToolHit {
  tool: Tool;
  /** Higher is better. Compare scores of one search only. */
  score: number;
  /** The public name of the tool whose definition it copies. It comes after that one. */
  doubleOf?: string;
}

export interface SearchOptions {
  /** How many tools to return at most. Default 10. */
  limit?: number;
  /** Names of the only servers whose tools are searched. `native` stands for your own tools. Default: all. */
  servers?: readonly string[];
  /** Finds all tools, whatever their `include` is. */
  all?: boolean;
}

export interface ToolSearch {
  /**
   * Ranks the tools of the board by how well they fit the query, best first. Of several queries each gives its best
   * tool in turn. Finds only tools that `tools()` lists and that a model may get, without those that are in every
   * prompt anyway. Starts no server.
   */
  search(query: string | readonly string[], options?: SearchOptions): Promise<ToolHit[]>;
}

/** Turns texts into vectors, one for each text, all of the same length. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
