// The configuration and the board of a command that an editor has started: edits are followed, a running gateway is used.

import { isDeepStrictEqual } from "node:util";
import { openBoard } from "../../core/board/board.ts";
import { loadCallPathSoon } from "../../core/board/call-path.ts";
import { declineUnattributed } from "../../core/board/decline-unattributed.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { forClients } from "../../serve/endpoint/client-board.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import { attachAgent } from "../attach/attach.ts";
import type { CliContext } from "../context.ts";
import { LiveConfig, onceEach } from "../live-config.ts";

/** Rejects as `LiveConfig.open` does, after `refuse` has told the editor. */
export async function openConfig(
  context: CliContext,
  refuse: (error: unknown) => Promise<void>,
): Promise<LiveConfig> {
  try {
    return await LiveConfig.open(context);
  } catch (error) {
    if (!context.io.stdin.isTTY) await refuse(error);
    throw error;
  }
}

export interface EditorBoardOptions {
  programPath: Promise<string | undefined>;
  /** Settings that are read once: an edit of them holds when the editor starts the command again. */
  startsAgain: readonly (keyof AgentConfig)[];
  /** Whether the tools are for another agent, which reaches them as an MCP client, and not for our own. */
  isForClients?: boolean;
}

/** Follows the configuration until it is closed. */
export async function openEditorBoard(
  agent: AgentConfig,
  config: LiveConfig,
  context: CliContext,
  { programPath, startsAgain, isForClients = false }: EditorBoardOptions,
): Promise<Board> {
  const { io, logger, clock, options } = context;
  const prepared = isForClients ? forClients : forEditors;
  const attachment = await attachAgent(agent, config.source, context, { programPath });
  const boardOptions: BoardOptions = {
    start: "eager",
    env: io.env,
    programPath,
    restartHint: (server) =>
      isForClients
        ? "to start it again, let your editor start the agent again"
        : `to start it again: /mcp reconnect ${server}`,
    clock,
    logger,
    stateDir: plugboardHome(io.env, io.homedir),
    // An MCP client reads resources by itself.
    ...(!isForClients && { resourceTools: "auto" }),
    // Questions caused by a session's calls go to that session's handlers instead.
    ...declineUnattributed(logger),
    serverLogLevel: options.logLevel === "silent" ? undefined : options.logLevel,
  };
  const board = await (attachment === undefined
    ? openBoard(prepared(agent, io.cwd), boardOptions)
    : attachment.open(prepared(agent, io.cwd), boardOptions));
  const tellLater = onceEach((names) =>
    logger.warn(`${names} will be used when the editor starts the agent again`),
  );
  config.follow({
    apply: async () => {
      const next = await config.readAgent();
      const report = await board.reload(prepared(next, io.cwd));
      tellLater(
        [...startsAgain, "acp" as const].filter((key) => !isDeepStrictEqual(agent[key], next[key])),
      );
      return report;
    },
  });
  context.onHangup(() => config.reload());
  loadCallPathSoon(logger);
  return board;
}

/** Whether the person at the editor is the owner. */
export function isOwner({ acp }: AgentConfig, { owner }: CliContext["options"]): boolean {
  return owner || acp?.owner === true;
}

/** Opening a session does not wait for the agent's own servers; its first prompt does. */
function forEditors(agent: AgentConfig, cwd: string): AgentConfig {
  return { ...agent, workspace: agent.workspace ?? cwd, startupWait: 0 };
}
