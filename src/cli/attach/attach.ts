// Attaches a command to the gateway that runs for its configuration, finds it again when it was restarted, and tells a
// person what happens.

import { openBoardBeside } from "../../core/board/board.ts";
import type { ConfigSource } from "../../core/config/find.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import {
  type Gateway,
  GatewayServers,
  type GatewayServersOptions,
} from "../../serve/channel/command/gateway-servers.ts";
import type { Link } from "../../serve/channel/link.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { isKeptAlive } from "../keep-alive/kept-alive.ts";
import { connectTo } from "./connect.ts";
import {
  type Attachable,
  findChannel,
  type FoundChannel,
  isTrustedBy,
  standaloneReason,
} from "./find-channel.ts";

/** A link to a gateway, and which one that is. */
export interface Linked {
  gateway: Attachable;
  link: Link;
}

export interface Attachment extends Linked {
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
  /** Used instead of another link, if this is the gateway to attach to. */
  linked?: Linked | undefined;
}

/** Undefined if the command stands alone. Says why, where a gateway runs. */
export async function attach(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions = {},
): Promise<Attachment | undefined> {
  const { logger, commandName } = context;
  const found = await findOrStart(source, context, options);
  if (found.kind === "standalone") {
    if (found.reason !== undefined) logger.warn(found.reason);
    return undefined;
  }
  const { gateway, shares, apart } = found;
  for (const reason of apart.values()) logger.info(reason);
  if (shares.size === 0) return undefined;
  try {
    const link =
      linkTo(gateway, options.linked) ?? (await connectTo(gateway, commandName, context));
    const shared = await openShared({ link, shares }, { source, context, options, gateway });
    logger.info(`uses the servers of the gateway (pid ${gateway.pid})`);
    return {
      gateway,
      link,
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

/** Where a command finds its gateway again. `gateway` is the one that it is attached to, or was. */
interface Place {
  source: ConfigSource;
  context: CliContext;
  options: AttachOptions;
  gateway: Attachable;
}

async function openShared(first: Gateway, place: Place): Promise<GatewayServers> {
  const { clock, logger, options } = place.context;
  const { toolTimeout } = place.options;
  const agentId = options.agent ?? DEFAULT_AGENT;
  const find: GatewayServersOptions["find"] = (current) => findAgain(place, current);
  const onLost = (message: string): void => logger.warn(message);
  try {
    return await GatewayServers.open({ agentId, clock, logger, toolTimeout, find, onLost }, first);
  } catch (error) {
    if (first.link !== place.options.linked?.link) first.link.close();
    throw error;
  }
}

/** A gateway that was started again has another key. */
function linkTo({ channel }: Attachable, linked: Linked | undefined): Link | undefined {
  const isSame = linked?.gateway.channel.key === channel.key && linked.link.isOpen;
  return isSame ? linked.link : undefined;
}

async function findOrStart(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions,
): Promise<FoundChannel> {
  const found = await findFor(source, context, options);
  if (found.kind === "attach" || found.reason !== undefined || !options.keepAlive) return found;
  if (source.kind !== "file" || context.options.standalone) return found;
  const { startBackground } = await import("../keep-alive/start-background.ts");
  const path = await options.programPath;
  const { env } = context.io;
  const started = await startBackground(
    source,
    context,
    path === undefined ? env : { ...env, PATH: path },
  );
  if (started.kind === "ready") {
    context.logger.info("a gateway runs in the background now; to stop it: plugboard down");
    return findFor(source, context, options);
  }
  return { kind: "standalone", reason: started.reason };
}

/**
 * The gateway that runs now, if it has the same servers. Of a file that needs your trust, another text may have been named
 * to the next gateway since: that approves it for the gateway, and not for this command.
 */
async function findAgain(place: Place, current: Link | undefined): Promise<Gateway | undefined> {
  const { source, context, options, gateway: last } = place;
  const found = await findFor(source, context, options);
  if (found.kind !== "attach" || source.kind !== "file") return undefined;
  const { gateway, shares } = found;
  const isSame =
    gateway.fingerprint.file === last.fingerprint.file &&
    gateway.fingerprint.base === last.fingerprint.base;
  const isTrusted = isSame || (await isTrustedBy(gateway, source, context.io));
  if (!isTrusted) return undefined;
  const known = current && linkTo(gateway, { gateway: last, link: current });
  const link = known ?? (await connectTo(gateway, context.commandName, context));
  place.gateway = gateway;
  return { link, shares };
}

/** Which servers are shared depends on the PATH that the command's programs get. */
async function findFor(
  source: ConfigSource,
  context: CliContext,
  { programPath }: AttachOptions,
): Promise<FoundChannel> {
  const found = await findChannel(source, context);
  if (found.kind === "standalone" || found.apart.size === 0) return found;
  const path = await programPath;
  if (path === undefined) return found;
  return findChannel(source, context, { ...context.io.env, PATH: path });
}
