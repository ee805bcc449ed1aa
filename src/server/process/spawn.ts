// Starts a server's process: without a shell, in a group of its own, with an environment of its own.

import type { ChildProcessWithoutNullStreams, SpawnOptionsWithoutStdio } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "../../model/logger.ts";
import { silentLogger } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { systemClock } from "../../util/clock.ts";
import { labelledArgs, parseContainerRun } from "./container-run.ts";
import { currentHost, makeCookie } from "./cookie.ts";
import type { Environment } from "./environment.ts";
import { baseEnvironment, childEnvironment } from "./environment.ts";
import type { ServerProcess } from "./server-process.ts";
import { ownProcess } from "./server-process.ts";
import { explainSpawnFailure } from "./spawn-failure.ts";
import type { StopTarget, StopTiming } from "./stop.ts";
import { stopServer } from "./stop-server.ts";
import type { ProcessTable } from "./table.ts";

export type { ServerProcess } from "./server-process.ts";
export type { ExitStatus } from "./stop.ts";

export interface SpawnOptions {
  command: string;
  args?: readonly string[];
  /** Configured variables, laid over the baseline. */
  env?: Environment;
  cwd?: string | undefined;
  /** The server's name, for errors. */
  server?: string;
  logger?: Logger;
  clock?: Clock;
  timing?: Partial<StopTiming>;
  /** The host's environment, of which the child gets the baseline. */
  ambient?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  table?: ProcessTable;
  cookie?: string;
  /** The program that ends process trees on Windows. */
  taskkill?: string;
}

/** Rejects with SPAWN_FAILED, which is permanent unless the machine was only short of something. */
export async function spawnServer(options: SpawnOptions): Promise<ServerProcess> {
  const { command, args = [], cwd, server, timing, table, taskkill } = options;
  const { platform = process.platform, ambient = process.env } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const cookie = options.cookie ?? makeCookie(currentHost());
  const env = childEnvironment(
    baseEnvironment(ambient, platform),
    options.env ?? {},
    cookie,
    platform,
  );
  const run = parseContainerRun(command, args);

  let child: ChildProcessWithoutNullStreams;
  let pid: number;
  try {
    child = await launch(command, run ? labelledArgs(run, cookie) : args, { env, cwd }, platform);
    pid = await startOf(child);
  } catch (error) {
    throw await explainSpawnFailure(error, { command, cwd, env, platform, server });
  }

  const engine = run && { command, globals: run.globals, env, cwd };
  const how = { clock, logger, platform, ambient, timing, table, taskkill, engine };
  const stopTarget = (target: StopTarget): Promise<void> => stopServer(target, how);
  return ownProcess(child, { pid, cookie, platform, clock, stopTarget });
}

/** May throw at once or let the child emit "error": the system decides by the kind of failure. */
async function launch(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptionsWithoutStdio, "env" | "cwd">,
  platform: NodeJS.Platform,
): Promise<ChildProcessWithoutNullStreams> {
  if (platform !== "win32") return spawn(command, args, { ...options, detached: true });
  // Scripts that stand for programs (npx.cmd) need care there. Its import is slow, so only there.
  const { default: crossSpawn } = await import("cross-spawn");
  return crossSpawn.spawn(command, [...args], { ...options, stdio: "pipe", windowsHide: true });
}

async function startOf(child: ChildProcessWithoutNullStreams): Promise<number> {
  await once(child, "spawn");
  if (child.pid === undefined) throw new Error("the system gave no process id");
  return child.pid;
}
