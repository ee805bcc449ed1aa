// MCP servers for a registry of clawtools: every tool is registered, and kept true afterwards. From a
// registry that cannot forget, a tool that its server has dropped answers that it is gone.

import { openBoard } from "../../board.ts";
import type { BoardConfig } from "../../config/parse.ts";
import type { Board } from "../../model/board.ts";
import type { BoardOptions } from "../../model/board-options.ts";
import { isJsonObject } from "../../model/json.ts";
import type { OnSampling } from "../../model/sampling.ts";
import type { ServerStateKind } from "../../model/server-state.ts";
import { type ClawToolRegistry, Shelf, type ShelfOptions } from "./clawtools-shelf.ts";

export type { ClawTool, ClawToolRegistry, ClawToolResult } from "./clawtools-shelf.ts";

export interface LoadOptions
  extends
    ShelfOptions,
    Pick<
      BoardOptions,
      | "native"
      | "workspaceDir"
      | "signal"
      | "logger"
      | "stateDir"
      | "onApproval"
      | "onElicitation"
      | "owner"
    > {
  /** Called with the server whose tools have changed, after the registry has them. */
  onToolsChanged?: (serverId: string) => void;
  /**
   * Asks a model for a server. With it, servers whose configuration says nothing about `sampling` get
   * `ask`; without it no server may.
   */
  onSamplingRequest?: OnSampling;
}

export type ConnectionStatus = "connected" | "connecting" | "disconnected" | "error";

export interface MCPToolProvider {
  /** What is behind it: resources, prompts, states in full. */
  readonly board: Board;
  /** Asks every server for its tools again; resolves when the registry has them. */
  refresh(): Promise<void>;
  status(): Record<string, ConnectionStatus>;
  /** Idempotent; resolves when no process is left. */
  close(): Promise<void>;
}

const STATUS: Readonly<Record<ServerStateKind, ConnectionStatus>> = {
  ready: "connected",
  starting: "connecting",
  idle: "disconnected",
  disabled: "disconnected",
  stopping: "disconnected",
  stopped: "disconnected",
  // It will be tried again, but what it is now is broken.
  backoff: "error",
  failed: "error",
  "needs-auth": "error",
  untrusted: "error",
};

/** Rejects for a configuration that is wrong, never for a server that is. */
export async function loadMCPServers(
  config: BoardConfig,
  registry: ClawToolRegistry,
  options: LoadOptions = {},
): Promise<MCPToolProvider> {
  const { onToolsChanged, onSamplingRequest, onDiagnostic, errors, ...forBoard } = options;
  const named = { toolNames: "{server}__{tool}", ...config };
  const board =
    onSamplingRequest === undefined
      ? await openBoard(named, forBoard)
      : await openBoard(withSampling(named), { ...forBoard, onSampling: onSamplingRequest });
  const shelf = new Shelf(board, registry, {
    ...(onDiagnostic !== undefined && { onDiagnostic }),
    ...(errors !== undefined && { errors }),
  });
  board.on("tools", () => {
    for (const server of shelf.sync()) onToolsChanged?.(server);
  });
  shelf.sync();
  return {
    board,
    refresh: async () => void (await board.refresh()),
    status: () =>
      Object.fromEntries(board.status().map(({ name, state }) => [name, STATUS[state.kind]])),
    close: () => board.close(),
  };
}

/** What is no server at all is left to be told by the check of the configuration. */
function withSampling(config: BoardConfig): BoardConfig {
  if (!isJsonObject(config.servers)) return config;
  const servers = Object.entries(config.servers).map(
    ([name, server]) =>
      [name, isJsonObject(server) ? { sampling: "ask" as const, ...server } : server] as const,
  );
  return { ...config, servers: Object.fromEntries(servers) };
}
