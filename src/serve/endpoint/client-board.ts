// Opens an agent's board for MCP clients: the names they can use, time for long calls, and what they are told about the
// board as a whole.

import { join } from "node:path";
import { openBoard } from "../../core/board/board.ts";
import { declineUnattributed } from "../../core/board/decline-unattributed.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { Board, ReloadReport } from "../../core/types/board.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { RootsSetting } from "../../core/types/roots.ts";
import type { BoardState } from "../../core/types/shared-state.ts";
import { isExchanged, isPerUser } from "../../core/types/server-definition.ts";
import type { EndpointOptions } from "./context.ts";

/** An agent's board, what its clients are told about it, and what it takes to open sessions on it. */
export interface ClientBoard extends Required<Pick<EndpointOptions, "about" | "keepsApps">> {
  /** Opened with `onlyInSessions`. */
  board: Board;
  /** The working directory of the servers of a session. */
  readonly workspace: string;
  /** The names of the servers of `scope: "session"`. */
  readonly sessionServers: readonly string[];
  /** The names of the servers that each person has for themselves. */
  readonly userServers: readonly string[];
  /** Those of `userServers` for whose tokens people's JWTs are exchanged: nobody signs in to them. */
  readonly exchangedServers: readonly string[];
  /** What the configuration says about roots. */
  readonly roots: RootsSetting | undefined;
  /** `reload` of the board, with the configuration as it is for clients. */
  reload(agent: AgentConfig): Promise<ReloadReport>;
}

export interface ClientBoardOptions extends Pick<
  BoardOptions,
  "env" | "clock" | "serverLogLevel" | "start" | "programPath" | "restartHint"
> {
  /** Whether the board's clients are the owner. Others get a board on top of it. */
  owner: boolean;
  state: BoardState;
  logger: Logger;
  stateDir: string;
  /** The workspace of an agent that has none configured. */
  cwd: string;
  /** Opens the board. Default: one with servers of its own. */
  open?: (agent: AgentConfig, options: BoardOptions) => Promise<Board>;
}

/** MCP clients have no way to say how long a call may take, and long ones are common. */
export const TOOL_TIMEOUT = 600_000;
/** MCP clients put a prefix of their own before every name. */
const TOOL_NAME_LENGTH = 48;

export async function openClientBoard(
  opened: AgentConfig,
  given: ClientBoardOptions,
): Promise<ClientBoard> {
  const { env, clock, logger, stateDir, state, serverLogLevel, cwd, owner } = given;
  const { start = "eager", open = openBoard, programPath, restartHint } = given;
  let agent = forClients(opened, cwd);
  let missing = whyMissing(agent, stateDir);
  const board = await open(agent, {
    start,
    env,
    programPath,
    restartHint,
    clock,
    logger,
    stateDir,
    state,
    serverLogLevel,
    onlyInSessions: true,
    owner,
    defaultToolTimeout: TOOL_TIMEOUT,
    showsApps: true,
    // Questions caused by a client's calls go to that client instead.
    ...declineUnattributed(logger),
  });
  if (missing !== undefined) logger.warn(missing);
  return {
    board,
    get workspace() {
      return agent.workspace ?? cwd;
    },
    get sessionServers() {
      return agent.servers.flatMap(({ name, scope, enabled }) =>
        scope === "session" && enabled ? [name] : [],
      );
    },
    get userServers() {
      return agent.servers.flatMap((each) => (each.enabled && isPerUser(each) ? [each.name] : []));
    },
    get exchangedServers() {
      return agent.servers.flatMap((each) =>
        each.enabled && isExchanged(each) ? [each.name] : [],
      );
    },
    get roots() {
      return agent.roots;
    },
    // A client cannot see why tools are missing.
    about: () => missing && `${missing.replace(/\.?$/, ".")} Tell the user.`,
    keepsApps: () => agent.toolNames === "{tool}" && agent.servers.length === 1,
    async reload(next) {
      const nextAgent = forClients(next, cwd);
      const report = await board.reload(nextAgent);
      const before = missing;
      agent = nextAgent;
      missing = whyMissing(agent, stateDir);
      if (missing !== undefined && missing !== before) logger.warn(missing);
      return report;
    },
  };
}

/** The names that clients can use, and a workspace in any case. */
export function forClients(agent: AgentConfig, cwd: string): AgentConfig {
  const { toolNames, hasToolNames, workspace = cwd } = agent;
  return {
    ...agent,
    workspace,
    toolNames: hasToolNames ? toolNames : "{server}__{tool}",
    toolNameLength: TOOL_NAME_LENGTH,
    // Clients are answered at once; their first list waits for the servers.
    startupWait: 0,
  };
}

/** Why a board has no tools, or not those of a file, and what to do about it. Undefined if it has them. */
function whyMissing(agent: AgentConfig, stateDir: string): string | undefined {
  const { untrusted = [], file, servers, nativeModules = [] } = agent;
  const isEmpty = nativeModules.length === 0 && !servers.some(({ enabled }) => enabled);
  const [first] = untrusted;
  if (first !== undefined) {
    const { inUse, file: of, servers: waiting } = first;
    const whose = inUse ? waiting.map(({ name }) => name).join(", ") : of;
    // Without a full stop, since it ends with a command that is copied.
    return `Plugboard offers ${isEmpty ? "no tools" : `none of the tools of ${whose}`}, because ${first.remedy}`;
  }
  if (!isEmpty) return undefined;
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
  // A file that was there when it started is watched.
  const then = file === undefined ? ", then restart Plugboard." : ".";
  return `Plugboard offers no tools, because ${why}. ${remedy}${then}`;
}
