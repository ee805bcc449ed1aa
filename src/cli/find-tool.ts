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
    const toEnable = enableHint(board, server);
    if (toEnable !== undefined) throw new PlugboardError(code, message, { server, hint: toEnable });
    if (code !== "UNKNOWN_TOOL") throw error;
    const servers = board.status();
    if (servers.some((each) => each.name === name)) {
      const list = `plugboard tools --server ${shellWord(name)}`;
      throw new PlugboardError(code, message, {
        hint: `it is the name of a server; to list its tools: ${list}`,
      });
    }
    const named = servers.find((each) => name.startsWith(`${each.name}/`))?.name;
    const list =
      named === undefined
        ? "to list all tools: plugboard tools"
        : `to list its tools: plugboard tools --server ${shellWord(named)}`;
    throw new PlugboardError(code, message, { hint: hint ?? list });
  }
}

/** As `findTool`. `word` is what comes after the name: `server tool` is written too. */
export async function findMeant(
  board: Pick<Board, "find" | "status">,
  name: string,
  word: string | undefined,
  signal: AbortSignal,
): Promise<Tool> {
  const isServer = board.status().some((server) => server.name === name);
  if (word === undefined || !isServer) return findTool(board, name, signal);
  try {
    return await findTool(board, `${name}/${word}`, signal);
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "UNKNOWN_TOOL") throw error;
    // A tool may have the name of a server.
    return board.find(name, { signal }).catch(() => Promise.reject(error));
  }
}

/** Undefined unless the server is disabled. */
export function enableHint(
  board: Pick<Board, "status">,
  server: string | undefined,
): string | undefined {
  const status = board.status().find((each) => each.name === server);
  if (server === undefined || status?.state.kind !== "disabled") return undefined;
  return `to enable it: plugboard enable ${shellWord(server)}`;
}
