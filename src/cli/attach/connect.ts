// Opens the link to a running gateway over its channel.

import type { RunningGateway } from "../../core/state/running-gateway.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { connectChannel } from "../../serve/attach/greeting.ts";
import type { Link } from "../../serve/attach/link.ts";
import type { CliContext } from "../context.ts";

type LinkContext = Pick<CliContext, "io" | "clock" | "signal">;

/** `command` is its name. Rejects with SERVER_UNAVAILABLE if the gateway does not answer. */
export async function connectTo(
  { channel }: Pick<RunningGateway, "channel">,
  command: string,
  { io, clock, signal }: LinkContext,
): Promise<Link> {
  if (channel !== undefined) {
    return connectChannel(channel, { command, pid: process.pid, cwd: io.cwd }, { clock, signal });
  }
  throw new PlugboardError(
    "SERVER_UNAVAILABLE",
    "the gateway is of an earlier version of Plugboard",
    { hint: "to stop it, and then start it again: plugboard down" },
  );
}

/** Asks a gateway something, and hangs up. */
export async function withLink<Result>(
  gateway: Pick<RunningGateway, "channel">,
  command: string,
  context: LinkContext,
  use: (link: Link) => Promise<Result>,
): Promise<Result> {
  const link = await connectTo(gateway, command, context);
  try {
    return await use(link);
  } finally {
    link.close();
  }
}
