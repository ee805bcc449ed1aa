// Finds the tool that a command names.

import type { Board } from "../../model/board.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { Tool } from "../../model/tool.ts";

/** Rejects as `board.find` does; for an unknown name, the error says where all tools are listed. */
export async function findTool(
  board: Pick<Board, "find">,
  name: string,
  signal: AbortSignal,
): Promise<Tool> {
  try {
    return await board.find(name, { signal });
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "UNKNOWN_TOOL") throw error;
    const { code, message, hint } = error;
    throw new PlugboardError(code, message, { hint: hint ?? "to list all tools: plugboard tools" });
  }
}
