// Whether a model gets all tools of an agent or searches for them, for people.

import { modelLimits, providerOf } from "../../agent/loop/provider.ts";
import { planPrompt, type PromptPlan } from "../../core/board/prompt-plan.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import { capitalised } from "../../util/text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrap } from "../terminal/width.ts";

/** As the agent's model gets the tools, if one is configured: its window is a limit too. */
export function planFor(
  { model: id = "", modelProviders }: AgentConfig,
  board: Pick<Board, "tools" | "toolSearch">,
): PromptPlan {
  const provider = providerOf(id, modelProviders);
  const { toolSearch } = board;
  return planPrompt(board.tools(), {
    toolSearch,
    ...(provider && { contextWindow: modelLimits(provider).contextWindow }),
  });
}

/** Empty if the model gets all tools. */
export function toolSearchLines(text: string | undefined, { out }: Terminal): string[] {
  if (text === undefined) return [];
  return ["", ...wrap(capitalised(text), out.width ?? Infinity)];
}
