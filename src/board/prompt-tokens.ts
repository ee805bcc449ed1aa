// How many tokens of a model's prompt a list of tools takes, for those who show it.

import { toolTokens } from "../catalog/token-count.ts";
import { isForModels } from "../model/include.ts";
import type { Tool } from "../model/tool.ts";

/** Tools that no model may get take none. Those that a model searches for count: see board/prompt-plan.ts. */
export function promptTokens(tools: readonly Tool[]): number {
  const tokens = tools.filter(isForModels).reduce((sum, tool) => sum + toolTokens(tool), 0);
  return Math.round(tokens);
}

/** What one tool takes, or would take if models got it. */
export function definitionTokens(tool: Tool): number {
  return Math.round(toolTokens(tool));
}
