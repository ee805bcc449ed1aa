// Attaches a command to the gateway that runs for its configuration, finds it again when it was restarted, and tells a
// person what happens.

import type { Link } from "../../../channel/link.ts";
import type { ConfigSource } from "../../../config/find.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { Board } from "../../../model/board.ts";
import type { BoardOptions } from "../../../model/board-options.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { connectTo } from "./connect.ts";
import {
  type Attachable,
  findChannel,
  type FoundChannel,
  standaloneReason,
} from "./find-channel.ts";

export interface Attachment {
  gateway: Attachable;
  link: Link;
  /** In place of `openBoard`: the board of the gateway, as this command sees it. */
  open: (agent: AgentConfig, options: SharedBoardOptions) => Promise<Board>;
}

export interface SharedBoardOptions extends BoardOptions {
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number | undefined;
  /** False for a command that lists no tools: it is told of those that it asks for. Default true. */
  lists?: boolean | undefined;
}

export interface AttachOptions {
  /** The PATH of the command's programs, if that is not the one it was started with. */
  programPath?: Promise<string | undefined>;
  /** If no gateway runs, one is started in the background. */
  keepAlive?: boolean;
}

/** Undefined if the command stands alone. Says why, where a gateway runs. */
export async function attach(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions = {},
): Promise<Attachment | undefined> {
  const { logger, face } = context;
  const found = await findOrStart(source, context, options);
  if (found.kind === "standalone") {
    if (found.reason !== undefined) logger.warn(found.reason);
    return undefined;
  }
  const { gateway } = found;
  try {
    const link = await connectTo(gateway, face, context);
    return {
      gateway,
      link,
      async open(agent, boardOptions) {
        // Loaded here, since most commands have a board of their own.
        const { openAttachedBoard } = await import("../../../channel/attached-board.ts");
        return openAttachedBoard({
          ...boardOptions,
          agent,
          link,
          reattach: () => reattach(source, context, options),
          onLost: (message) => logger.warn(message),
        });
      },
    };
  } catch (error) {
    const why = oneLine(errorMessage(error), 200);
    logger.warn(standaloneReason(gateway, why, "to see the gateway: plugboard status"));
    return undefined;
  }
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
    source.path,
    context,
    path === undefined ? env : { ...env, PATH: path },
  );
  if (started.kind === "ready") return findFor(source, context, options);
  return { kind: "standalone", reason: started.reason };
}

/** The link to the gateway that runs now, if it has the same servers. Does not reject. */
async function reattach(
  source: ConfigSource,
  context: CliContext,
  options: AttachOptions,
): Promise<Link | undefined> {
  try {
    const found = await findFor(source, context, options);
    return found.kind === "attach"
      ? await connectTo(found.gateway, context.face, context)
      : undefined;
  } catch {
    return undefined;
  }
}

/** With the PATH that the command has, or else with the one that its programs get. */
async function findFor(
  source: ConfigSource,
  context: CliContext,
  { programPath }: AttachOptions,
): Promise<FoundChannel> {
  const found = await findChannel(source, context);
  const isPath =
    found.kind === "standalone" &&
    found.differs?.kind === "variable" &&
    found.differs.name === "PATH";
  const path = isPath ? await programPath : undefined;
  if (path === undefined) return found;
  return findChannel(source, context, { ...context.io.env, PATH: path });
}
