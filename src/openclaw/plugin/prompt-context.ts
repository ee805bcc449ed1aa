// Puts the resources of the board's servers into OpenClaw's prompts, at the end of the system prompt: the block that the
// board makes, which is framed, and the same until a resource changes.

import { type BoardClient, BoardProblem } from "./board-client.ts";
import type { OpenClawConfig, PromptAddition, PromptContext } from "./openclaw.ts";
import { isDenied } from "./settings.ts";

/** How long a prompt waits for the board. OpenClaw's own limit must be longer. */
const WAIT_MS = 8000;
export const HOOK_MS = 12_000;

/** The share of the model's context window that resources may take, as in Plugboard's own agent. */
const SHARE = 0.1;
const BYTES_PER_TOKEN = 3;

export interface PromptContextOptions {
  board: Pick<BoardClient, "read">;
  config: () => OpenClawConfig;
  maxResourceBytes: number;
  warn: (message: string) => void;
}

/** The prompt goes on without resources if the board cannot be read. The log has each reason once. */
export function promptContext({
  board,
  config,
  maxResourceBytes,
  warn,
}: PromptContextOptions): (
  event: object,
  context: PromptContext,
) => Promise<PromptAddition | undefined> {
  let told = "";
  return async (_, { agentId, contextTokenBudget }) => {
    if (isDenied(config(), agentId)) return undefined;
    const share = (contextTokenBudget ?? Infinity) * SHARE * BYTES_PER_TOKEN;
    const maxBytes = Math.floor(Math.min(maxResourceBytes, share));
    try {
      const text = await board.read(`plugboard://context?maxBytes=${maxBytes}`, {
        timeoutMs: WAIT_MS,
      });
      told = "";
      return text === "" ? undefined : { appendSystemContext: text };
    } catch (error) {
      const { message } = error as Error;
      const remedy = error instanceof BoardProblem ? `; ${error.remedy}` : "";
      if (message !== told) warn(`no resources in the prompt: ${message}${remedy}`);
      told = message;
      return undefined;
    }
  };
}
