// A command's board beside a gateway: all servers of the agent that sessions share are the gateway's.

import { openBoardBeside } from "../../src/core/board/board.ts";
import { NATIVE_MODULES } from "../../src/core/config/fingerprint.ts";
import type { AgentConfig } from "../../src/core/types/agent-config.ts";
import type { Board } from "../../src/core/types/board.ts";
import type { BoardOptions } from "../../src/core/types/board-options.ts";
import { silentLogger } from "../../src/core/types/logger.ts";
import {
  type Gateway,
  type GatewayServersOptions,
  GatewayServers,
} from "../../src/serve/attach/command/gateway-servers.ts";
import { systemClock } from "../../src/util/clock.ts";
import type { TestChannel } from "./channels.ts";

export interface AttachedBoardOptions
  extends
    BoardOptions,
    Partial<Pick<GatewayServersOptions, "toolTimeout" | "reattachFor" | "onLost" | "agentId">> {
  agent: AgentConfig;
  channel: Pick<TestChannel, "address" | "connect">;
  /** Finds the gateway again, or another one. Without it, none is found. */
  reattach?: () => Promise<TestChannel | undefined>;
  /** The names of the servers that are shared. Default: all but those of sessions. */
  shares?: ReadonlySet<string>;
}

export async function openAttachedBoard({
  agent,
  channel,
  reattach,
  toolTimeout,
  // A gateway of a test comes, however slow the machine is.
  reattachFor = reattach === undefined ? 0 : 30_000,
  onLost,
  agentId = agent.agentId,
  shares = sharedBy(agent),
  ...options
}: AttachedBoardOptions): Promise<Board> {
  const { clock = systemClock, logger = silentLogger } = options;
  const gatewayAt = ({ address, connect }: AttachedBoardOptions["channel"]): Gateway => ({
    key: address.key,
    connect: () => connect(),
    shares,
  });
  const find = async (): ReturnType<GatewayServersOptions["find"]> => {
    const next = await reattach?.();
    return next && gatewayAt(next);
  };
  const given = { agentId, clock, logger, find, toolTimeout, reattachFor, onLost };
  const shared = await GatewayServers.open(given, gatewayAt(channel));
  return openBoardBeside(agent, options, shared);
}

function sharedBy({ servers }: AgentConfig): ReadonlySet<string> {
  const shared = servers.filter(({ enabled, scope }) => enabled && scope !== "session");
  return new Set([...shared.map(({ name }) => name), NATIVE_MODULES]);
}
