// `plugboard down`: stops the gateway that runs for the configuration.

import { plugboardHome } from "../../../config/home.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { tryLock } from "../../../state/lock.ts";
import { gatewayFile, type RunningGateway } from "../../../state/running-gateway.ts";
import { pause } from "../../../util/clock.ts";
import { signalProcess } from "../../../util/signal.ts";
import { visible } from "../../../util/visible.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../open.ts";

/** Calls in flight have 10 seconds to finish, and the servers some more to stop. */
const LONGEST_STOP_MS = 30_000;
const LOOK_MS = 50;

/** Succeeds if none runs: then it is as you wanted it. */
export async function runDown(context: CliContext): Promise<number> {
  const { screen, options } = context;
  const source = findSource(context);
  const gateway = await runningGateway(source, context);
  if (gateway === undefined) {
    const which = source.kind === "file" ? ` for ${visible(source.path)}` : "";
    if (options.json) screen.json({ stopped: false });
    else screen.lines([`no gateway is running${which}`]);
    return EXIT.ok;
  }
  signalProcess(gateway.pid, "SIGTERM");
  await untilStopped(gateway, context);
  if (options.json) screen.json({ stopped: true, pid: gateway.pid });
  else screen.lines([`the gateway (pid ${gateway.pid}) has stopped`]);
  return EXIT.ok;
}

/** Its lock is the last thing that a gateway gives up. */
async function untilStopped(
  { config, pid }: RunningGateway,
  { io, clock, signal }: CliContext,
): Promise<void> {
  const lock = gatewayFile(plugboardHome(io.env, io.homedir), config, "lock");
  const deadline = clock.monotonic() + LONGEST_STOP_MS;
  for (;;) {
    const unlock = await tryLock(lock);
    if (unlock !== undefined) return unlock();
    if (signal.aborted) throw new PlugboardError("CANCELLED", "interrupted");
    if (clock.monotonic() > deadline) {
      throw new PlugboardError("TIMEOUT", `the gateway (pid ${pid}) has not stopped yet`, {
        hint: `to end it at once: kill -9 ${pid}`,
      });
    }
    await pause(clock, LOOK_MS, signal);
  }
}
