// Finds the tool for a call, starting as few servers as that takes.

import type { Board } from "../../../model/board.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import type { Tool } from "../../../model/tool.ts";
import { findExactly, findTool } from "../tools/find-tool.ts";
import { untilInterrupted } from "../lifetime.ts";
import { stateNotes } from "../status/server-state.ts";

type Searched = Pick<Board, "status" | "tools" | "restart" | "call">;

/**
 * A full name needs no more than its own server. A tool's own name alone needs them all: another server
 * may have one too. Rejects with UNKNOWN_TOOL, with SERVER_UNAVAILABLE where the tool may be one of a
 * server that cannot be asked, or with CANCELLED.
 */
export async function locateTool(
  board: Searched,
  name: string,
  signal: AbortSignal,
): Promise<Tool> {
  const known = findExactly(name, board.tools());
  if (known !== undefined) return known;
  const servers = board.status();
  const named = servers.find((server) => name.startsWith(`${server.name}/`));
  const unknown = (named === undefined ? servers : [named]).filter(isUnknown);
  const waiting = new Map(
    unknown.map(({ name: server }) => [server, board.restart(server).then(() => server)] as const),
  );
  while (waiting.size > 0) {
    const started = await untilInterrupted(Promise.race(waiting.values()), signal);
    waiting.delete(started);
    const tool = findExactly(name, board.tools());
    if (tool !== undefined) return tool;
  }
  try {
    return findTool(name, board.tools());
  } catch (error) {
    await throwIfRefused(board, name);
    const asked = new Set(unknown.map((server) => server.name));
    const silent = board.status().filter((server) => asked.has(server.name) && isUnknown(server));
    throw unavailable(named, silent, name) ?? error;
  }
}

/**
 * A tool that a rule keeps off the list is refused by that rule, not unknown; by the tool's own name alone
 * too. The call could not be made even if nothing refused it: it has been cancelled before. Servers that
 * nothing is known of are left alone, since it would start them again.
 */
async function throwIfRefused(board: Searched, name: string): Promise<void> {
  const known = board.status().filter((server) => !isUnknown(server));
  const names = name.includes("/")
    ? known.flatMap((server) => (name.startsWith(`${server.name}/`) ? [name] : []))
    : [name, ...known.map((server) => `${server.name}/${name}`)];
  for (const each of names) {
    const { failure } = await board.call(each, {}, { signal: AbortSignal.abort() });
    if (failure?.code === "REFUSED_BY_POLICY") {
      throw new PlugboardError(failure.code, failure.message);
    }
  }
}

/** Nothing has been heard of its tools, now or earlier. */
function isUnknown({ state, tools, cached }: ServerStatus): boolean {
  return tools === 0 && !cached && state.kind !== "ready" && state.kind !== "disabled";
}

function unavailable(
  named: ServerStatus | undefined,
  silent: readonly ServerStatus[],
  tool: string,
): PlugboardError | undefined {
  if (named?.state.kind === "disabled") {
    return serverUnavailable(`server '${named.name}' is disabled in the configuration`);
  }
  const [first] = silent;
  if (first === undefined) return undefined;
  const [reason, ...hints] = stateNotes(first.state);
  if (named !== undefined) {
    const hint = hints.map((each) => `\n${each}`).join("");
    return serverUnavailable(`server '${first.name}' is not available: ${reason}${hint}`);
  }
  const lines = silent.map(({ name, state }) => `  ${name}: ${stateNotes(state).join("\n    ")}`);
  return serverUnavailable(
    `there is no tool named '${tool}' among those known; not available:\n${lines.join("\n")}`,
  );
}

function serverUnavailable(message: string): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", message);
}
