// Finds the tool that a command names.

import type { Board } from "../core/types/board.ts";
import { PlugboardError } from "../core/types/errors.ts";
import type { Tool } from "../core/types/tool.ts";
import { shellWord } from "../util/text.ts";

/** Rejects as `board.find` does; for an unknown name, the error says where all tools are listed, and for a disabled server how to enable it. */
export async function findTool(
  board: Pick<Board, "find" | "status">,
  name: string,
  signal: AbortSignal,
): Promise<Tool> {
  try {
    return await board.find(name, { signal });
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const { code, message, hint, server } = error;
    const status = board.status().find((each) => each.name === server);
    if (server !== undefined && status?.state.kind === "disabled") {
      const command = `plugboard enable ${shellWord(server)}`;
      throw new PlugboardError(code, message, { server, hint: `to enable it: ${command}` });
    }
    if (code !== "UNKNOWN_TOOL") throw error;
    const named = board.status().find((each) => name.startsWith(`${each.name}/`))?.name;
    const list =
      named === undefined
        ? "to list all tools: plugboard tools"
        : `to list its tools: plugboard tools --server ${shellWord(named)}`;
    throw new PlugboardError(code, message, { hint: hint ?? list });
  }
}
