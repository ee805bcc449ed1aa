// Connects a command to the channel of a gateway.

import { connectChannel } from "../../serve/channel/command/connect.ts";
import type { Link } from "../../serve/channel/link.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { RunningGateway } from "../../core/state/running-gateway.ts";
import type { CliContext } from "../context.ts";

type ConnectContext = Pick<CliContext, "io" | "clock" | "signal">;

/** `command` is its name. Rejects with SERVER_UNAVAILABLE if the gateway does not answer. */
export function connectTo(
  { channel }: Pick<RunningGateway, "channel">,
  command: string,
  { io, clock, signal }: ConnectContext,
): Promise<Link> {
  if (channel === undefined) {
    const message = "the gateway is of an earlier version of Plugboard";
    const hint = "to stop it, and then start it again: plugboard down";
    return Promise.reject(new PlugboardError("SERVER_UNAVAILABLE", message, { hint }));
  }
  return connectChannel(channel, { command, pid: process.pid, cwd: io.cwd }, { clock, signal });
}

/** Asks a gateway something, and hangs up. */
export async function withLink<Result>(
  gateway: Pick<RunningGateway, "channel">,
  command: string,
  context: ConnectContext,
  use: (link: Link) => Promise<Result>,
): Promise<Result> {
  const link = await connectTo(gateway, command, context);
  try {
    return await use(link);
  } finally {
    link.close();
  }
}
