// Opens an agent's board for MCP clients: the names they can use, time for long calls, and what they are told about the
// board as a whole.

import { join } from "node:path";
import { openBoard } from "../board.ts";
import { declineUnattributed } from "../board/decline-unattributed.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { Board } from "../model/board.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { Logger } from "../model/logger.ts";
import type { RootsSetting } from "../model/roots.ts";
import type { BoardState } from "../model/shared-state.ts";
import type { EndpointOptions } from "./context.ts";

/** An agent's board, what its clients are told about it, and what it takes to open sessions on it. */
export interface ClientBoard extends Pick<EndpointOptions, "about" | "keepsApps"> {
  /** Opened with `onlyInSessions`, for an owner. */
  board: Board;
  /** The working directory of the servers of a session. */
  workspace: string;
  /** Whether servers of `scope: "session"` are configured. */
  hasSessionServers: boolean;
  /** What the configuration says about roots. */
  roots?: RootsSetting;
}

export interface ClientBoardOptions extends Pick<BoardOptions, "env" | "clock" | "serverLogLevel"> {
  state: BoardState;
  logger: Logger;
  stateDir: string;
  /** The workspace of an agent that has none configured. */
  cwd: string;
}

/** MCP clients have no way to say how long a call may take, and long ones are common. */
const TOOL_TIMEOUT = 600_000;
/** MCP clients put a prefix of their own before every name. */
const TOOL_NAME_LENGTH = 48;

export async function openClientBoard(
  agent: AgentConfig,
  { env, clock, logger, stateDir, state, serverLogLevel, cwd }: ClientBoardOptions,
): Promise<ClientBoard> {
  const { servers, toolNames, hasToolNames, workspace = cwd, roots } = agent;
  const names = hasToolNames ? toolNames : "{server}__{tool}";
  const board = await openBoard(
    {
      ...agent,
      toolNames: names,
      toolNameLength: TOOL_NAME_LENGTH,
      // Clients are answered at once; their first list waits for the servers.
      startupWait: 0,
    },
    {
      start: "eager",
      env,
      clock,
      logger,
      stateDir,
      state,
      serverLogLevel,
      workspaceDir: workspace,
      onlyInSessions: true,
      // Whoever started the client, or has the gateway's own token. Other callers get a board on top of this one.
      owner: true,
      defaultToolTimeout: TOOL_TIMEOUT,
      showsApps: true,
      // Questions caused by a client's calls go to that client instead.
      ...declineUnattributed(logger),
    },
  );
  const empty = whyEmpty(agent, stateDir);
  if (empty !== undefined) logger.warn(empty);
  return {
    board,
    workspace,
    hasSessionServers: servers.some(({ scope, enabled }) => scope === "session" && enabled),
    roots,
    // A client cannot see why a board is empty.
    ...(empty !== undefined && { about: `${empty} Tell the user.` }),
    ...(names === "{tool}" && servers.length === 1 && { keepsApps: true }),
  };
}

/** Why a board has no tools, and what to do about it. Undefined if it has some. */
function whyEmpty(agent: AgentConfig, stateDir: string): string | undefined {
  const { untrusted, file, servers, nativeModules = [] } = agent;
  if (untrusted !== undefined) {
    return `Plugboard offers no tools, because ${untrusted.remedy}. Then restart Plugboard.`;
  }
  if (nativeModules.length > 0 || servers.some(({ enabled }) => enabled)) return undefined;
  const where = file ?? join(stateDir, "plugboard.json");
  const why =
    servers.length > 0
      ? `every MCP server in ${where} is disabled`
      : file === undefined
        ? "there is no configuration"
        : `${where} has no MCP servers`;
  const remedy =
    servers.length > 0
      ? 'To use one, remove its "enabled": false'
      : `To add servers, list them in mcpServers of ${where}`;
  return `Plugboard offers no tools, because ${why}. ${remedy}, then restart Plugboard.`;
}
