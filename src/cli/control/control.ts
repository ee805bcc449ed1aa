// `plugboard restart` and `plugboard down`: tell the gateway that runs for the configuration what to do.

import { type ConfigSource, findConfig, possibleFiles } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { tryLock } from "../../core/state/lock.ts";
import {
  gatewayFile,
  isGatewayProcess,
  type RunningGateway,
} from "../../core/state/running-gateway.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import { stateFromWire } from "../../serve/attach/wire.ts";
import { pause } from "../../util/clock.ts";
import { signalProcess } from "../../util/signal.ts";
import { plural } from "../../util/text.ts";
import { withLink } from "../attach/connect.ts";
import { noGatewayRuns, runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { untilInterrupted } from "../lifetime.ts";
import { findSource } from "../find-source.ts";
import { unavailableNotes } from "../status/server-state.ts";
import type { RestartRequest } from "./command.ts";

/** Load balancers have up to 15 seconds to notice, calls in flight 30 to finish, and the servers some more to stop. */
const LONGEST_STOP_MS = 65_000;
/** After this long, the person is told why the command waits. */
const PATIENCE_MS = 1500;
const LOOK_MS = 50;

/** The same for every command of this user: what it was started with does not matter. */
export async function runRestart({ server }: RestartRequest, context: CliContext): Promise<number> {
  const { screen, options, signal } = context;
  refuseStandalone("restart", context);
  const source = findSource(context);
  const gateway = await runningGateway(source, context);
  if (gateway === undefined) {
    throw new PlugboardError("SERVER_UNAVAILABLE", noGatewayRuns(source), {
      hint: "other commands start servers of their own each time, so there is nothing to restart",
    });
  }
  const { state: told, tools } = await withLink(gateway, "restart", context, async (link) => {
    const { agent = DEFAULT_AGENT } = options;
    await untilInterrupted(ask(link, "agent/attach", [agent]), signal);
    return untilInterrupted(ask(link, "server/restart", [server]), signal);
  });
  const state = stateFromWire(told);
  const isReady = state.kind === "ready";
  if (options.json) screen.json({ server, state: stateToJson(state) });
  else if (isReady) screen.lines([`restarted ${server}: ${plural(tools, "tool")}`]);
  else {
    screen.lines([`restarted ${server}, but it is not ready`]);
    for (const note of unavailableNotes([{ name: server, state }], options)) screen.note(note);
  }
  return isReady ? EXIT.ok : EXIT.unavailable;
}

/** Succeeds if none runs: then it is as you wanted it. */
export async function runDown(context: CliContext): Promise<number> {
  const { screen, options } = context;
  refuseStandalone("down", context);
  const gateway = await gatewayToStop(context);
  if (gateway === undefined) {
    if (options.json) screen.json({ stopped: false });
    else screen.lines([noGatewayRuns(findSource(context))]);
    return EXIT.ok;
  }
  await stopGateway(gateway, "down", context);
  if (options.json) screen.json({ stopped: true, pid: gateway.pid });
  else screen.lines([`the gateway (pid ${gateway.pid}) has stopped`]);
  return EXIT.ok;
}

/** With --standalone, the user may want the gateway to be left alone, so the command refuses. */
function refuseStandalone(command: "restart" | "down", { options }: CliContext): void {
  if (!options.standalone) return;
  const message = `plugboard ${command} is about the gateway, and --standalone leaves the gateway alone`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint: "leave out --standalone" });
}

/** Also one whose file has been deleted. */
async function gatewayToStop(context: CliContext): Promise<RunningGateway | undefined> {
  const { io, options } = context;
  const find = { flag: options.config, env: io.env, cwd: io.cwd, homedir: io.homedir };
  const gone = possibleFiles(find).map((path): ConfigSource => ({
    kind: "file",
    path,
    from: "flag",
  }));
  const sources = ((): ConfigSource[] => {
    try {
      const source = findConfig(find);
      return source.kind === "file" ? [source] : [...gone, source];
    } catch {
      // The file that was named is not there. If no gateway runs for it either, that is said.
      return gone;
    }
  })();
  for (const source of sources) {
    const gateway = await runningGateway(source, context);
    if (gateway !== undefined) return gateway;
  }
  return undefined;
}

/** Resolves when the gateway and its servers are gone. `command` is the name of the one that wants it. */
export async function stopGateway(
  gateway: RunningGateway,
  command: string,
  context: CliContext,
): Promise<void> {
  try {
    await withLink(gateway, command, context, (link) => ask(link, "gateway/stop", []));
  } catch (error) {
    // One that hangs, or is of a version with another channel. The id in its record may be that of another process: of
    // this machine, if the record is of another one, or of this container.
    const { env, homedir } = context.io;
    if (!isGatewayProcess(plugboardHome(env, homedir), gateway)) throw notSure(error, gateway);
    if (signalProcess(gateway.pid, "SIGTERM") !== "sent") throw error;
  }
  await untilStopped(gateway, context);
}

function notSure(error: unknown, { pid }: RunningGateway): PlugboardError {
  const { code, message } = toPlugboardError(error, "SERVER_UNAVAILABLE");
  const hint = `it may run on another machine or in a container, so no process was signalled; if process ${pid} here is the gateway: kill ${pid}`;
  return new PlugboardError(code, message, { hint, quote: "" });
}

/** Its lock is the last thing that a gateway gives up. */
async function untilStopped(
  { config, pid }: RunningGateway,
  { io, clock, signal, screen }: CliContext,
): Promise<void> {
  const lock = gatewayFile(plugboardHome(io.env, io.homedir), config, "lock");
  const began = clock.monotonic();
  let wasTold = false;
  for (;;) {
    const unlock = await tryLock(lock);
    if (unlock !== undefined) return unlock();
    if (signal.aborted) throw new PlugboardError("CANCELLED", "interrupted");
    const waited = clock.monotonic() - began;
    if (waited > LONGEST_STOP_MS) {
      throw new PlugboardError("TIMEOUT", `the gateway (pid ${pid}) has not stopped yet`, {
        hint: `to end it at once: kill -9 ${pid}`,
      });
    }
    if (waited > PATIENCE_MS && !wasTold) {
      wasTold = true;
      screen.note("plugboard: the gateway lets calls in flight finish");
    }
    await pause(clock, LOOK_MS, signal);
  }
}
