// Attaches a command to the gateway that runs for its configuration, finds it again when it was restarted, and tells a
// person what happens.

import { openBoardBeside } from "../../core/board/board.ts";
import type { ConfigSource } from "../../core/config/find.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import { type Gateway, GatewayServers } from "../../serve/attach/command/gateway-servers.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { isKeptAlive } from "../background/kept-alive.ts";
import { connectTo } from "./connect.ts";
import {
  type Attachable,
  envWith,
  findChannel,
  type FoundChannel,
  isTrustedBy,
  standaloneReason,
} from "./find-channel.ts";

export interface Attachment {
  gateway: Attachable;
  /** The names of the gateway's servers that this command starts itself, since they would not be the same. */
  apart: readonly string[];
  /** In place of `openBoard`: a board with the servers of the gateway, as far as it would start the same. */
  open: (agent: AgentConfig, options: BoardOptions) => Promise<Board>;
}

export interface AttachOptions {
  /** The PATH of the command's programs, if that is not the one it was started with. */
  programPath?: Promise<string | undefined>;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number | undefined;
  /** If no gateway runs, one is started in the background. */
  keepAlive?: boolean;
}

/** Undefined if the command stands alone. Says why, where a gateway runs. */
export async function attach(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions = {},
): Promise<Attachment | undefined> {
  const { logger, clock, commandName } = context;
  const found = await findOrStart(source, context, options);
  if (found.kind === "standalone") {
    if (found.reason !== undefined) logger.warn(found.reason);
    return undefined;
  }
  const { gateway, shares, apart } = found;
  for (const reason of apart.values()) logger.info(reason);
  if (shares.size === 0) return undefined;
  let last = gateway;
  const toGateway = (next: Attachable, shared: ReadonlySet<string>): Gateway => ({
    key: next.channel.key,
    shares: shared,
    connect: () => connectTo(next, commandName, context),
  });
  /**
   * The gateway that runs now, if it has the same servers. It may run with another text of a file that needs your trust:
   * whoever started it with --config has approved that text for the gateway, and not for this command.
   */
  const find = async (): Promise<Gateway | undefined> => {
    const again = await findChannel(source, context, options.programPath);
    if (again.kind !== "attach" || source.kind !== "file") return undefined;
    const { file, base } = again.gateway.fingerprint;
    const isSame = file === last.fingerprint.file && base === last.fingerprint.base;
    if (!isSame && !(await isTrustedBy(again.gateway, source, context.io))) return undefined;
    last = again.gateway;
    return toGateway(last, again.shares);
  };
  const agentId = context.options.agent ?? DEFAULT_AGENT;
  const onLost = (message: string): void => logger.warn(message);
  const { toolTimeout } = options;
  try {
    const given = { agentId, clock, logger, find, toolTimeout, onLost };
    const shared = await GatewayServers.open(given, toGateway(gateway, shares));
    logger.info(`uses the servers of the gateway (pid ${gateway.pid})`);
    return {
      gateway,
      apart: [...apart.keys()],
      open: (agent, boardOptions) => openBoardBeside(agent, boardOptions, shared),
    };
  } catch (error) {
    const why = oneLine(errorMessage(error), 200);
    logger.warn(standaloneReason(gateway, why, "to see the gateway: plugboard status"));
    return undefined;
  }
}

/** For a command that runs for long. It stands alone while a file is not trusted, since that may change at any time. */
export async function attachAgent(
  agent: AgentConfig,
  source: ConfigSource,
  context: CliContext,
  options: Pick<AttachOptions, "programPath"> = {},
): Promise<Attachment | undefined> {
  if (agent.untrusted !== undefined) return undefined;
  return attach(source, context, { ...options, keepAlive: isKeptAlive(agent) });
}

async function findOrStart(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions,
): Promise<FoundChannel> {
  const found = await findChannel(source, context, options.programPath);
  if (found.kind === "attach" || found.reason !== undefined || !options.keepAlive) return found;
  if (source.kind !== "file" || context.options.standalone) return found;
  const { startBackground } = await import("../background/start.ts");
  const started = await startBackground(
    source,
    context,
    await envWith(options.programPath, context.io),
  );
  if (started.kind !== "ready") return { kind: "standalone", reason: started.reason };
  context.logger.info("a gateway runs in the background now; to stop it: plugboard down");
  return findChannel(source, context, options.programPath);
}
