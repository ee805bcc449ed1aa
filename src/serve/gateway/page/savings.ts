// What leaving a server out would save of a prompt.

import { planPrompt } from "../../../core/board/prompt-plan.ts";
import type { Board } from "../../../core/types/board.ts";

/** Those that take the most; each takes a plan of its own. */
const MOST_SERVERS = 30;

export interface Saving {
  server: string;
  tools: number;
  /** Roughly, in tokens. */
  saves: number;
}

/** The largest first. */
export function savingsOf(board: Pick<Board, "tools" | "toolSearch" | "status">): Saving[] {
  const tools = board.tools();
  const { toolSearch } = board;
  const now = planPrompt(tools, { toolSearch }).after.tokens;
  const largest = board
    .status()
    .filter(({ promptTokens }) => promptTokens > 0)
    .toSorted((a, b) => b.promptTokens - a.promptTokens)
    .slice(0, MOST_SERVERS);
  return largest
    .map(({ name, tools: count }) => {
      const left = tools.filter(({ source }) => source.kind !== "mcp" || source.server !== name);
      const saves = Math.round(now - planPrompt(left, { toolSearch }).after.tokens);
      return { server: name, tools: count, saves };
    })
    .toSorted((a, b) => b.saves - a.saves);
}
