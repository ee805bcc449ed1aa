// Starts a server's process (without a shell, in its own process group, with its own environment), watches
// it, and stops it with everything it started.

import {
  type ChildProcessWithoutNullStreams,
  type SpawnOptionsWithoutStdio,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { silentLogger } from "../types/logger.ts";
import { systemClock } from "../../util/clock.ts";
import { labelledArgs, parseContainerRun } from "./containers.ts";
import { makeCookie } from "./cookie.ts";
import { type ChildEnvironment, baseEnvironment, childEnvironment } from "./environment.ts";
import { sweepAtExit } from "./exit-sweep.ts";
import { currentHost } from "./host-identity.ts";
import { sharedProcessTable } from "./open-process-table.ts";
import { withBorrowedReads } from "./pipes.ts";
import { explainSpawnFailure } from "./spawn-failure.ts";
import {
  type ExitStatus,
  type StopOptions,
  type StopTarget,
  stopProcessTree,
  taskkillPath,
} from "./stop-process-tree.ts";

/** The child gets the baseline of `ambient`. */
export interface StartProcessOptions extends Partial<Omit<StopOptions, "engine">> {
  command: string;
  args?: readonly string[];
  /** The configured variables, which override the baseline. */
  env?: ChildEnvironment;
  cwd?: string;
  /** The server's name, for errors. */
  server?: string;
  cookie?: string;
}

export interface ServerProcess {
  readonly pid: number;
  readonly cookie: string;
  /** Errors of the streams are ignored unless you add a listener. */
  readonly stdin: Writable;
  /** A listener of "data" has to copy what it keeps of a chunk: the chunk is overwritten when the listener returns. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the child itself has ended. What it left behind is then stopped without being asked. */
  readonly exited: Promise<ExitStatus>;
  /** Idempotent; never rejects; resolves when nothing of the server is left. */
  stop(): Promise<void>;
}

/** Rejects with SPAWN_FAILED, which is permanent unless the machine was only short of something. */
export async function startProcess(options: StartProcessOptions): Promise<ServerProcess> {
  const { command, args = [], cwd, server } = options;
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
  let stdout: Readable;
  let pid: number;
  try {
    child = await launch(command, run ? labelledArgs(run, cookie) : args, { env, cwd }, platform);
    // Before the next turn of the event loop, in which the child's own stream would read.
    stdout = child.pid === undefined ? child.stdout : withBorrowedReads(child.stdout, platform);
    pid = await pidOf(child);
  } catch (error) {
    throw await explainSpawnFailure(error, { command, cwd, env, platform, server });
  }

  const engine = run && { command, globals: run.globals, env, cwd };
  return watchProcess(child, stdout, pid, cookie, {
    ...options,
    clock,
    logger,
    platform,
    ambient,
    engine,
  });
}

/** May throw at once or let the child emit "error": that depends on the kind of failure. */
async function launch(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptionsWithoutStdio, "env" | "cwd">,
  platform: NodeJS.Platform,
): Promise<ChildProcessWithoutNullStreams> {
  if (platform !== "win32") return spawn(command, args, { ...options, detached: true });
  // Windows needs it for scripts that stand for programs (npx.cmd). Loading it is slow, so only there.
  const { default: crossSpawn } = await import("cross-spawn");
  return crossSpawn.spawn(command, [...args], { ...options, stdio: "pipe", windowsHide: true });
}

async function pidOf(child: ChildProcessWithoutNullStreams): Promise<number> {
  await once(child, "spawn");
  if (child.pid === undefined) throw new Error("the system gave no process id");
  return child.pid;
}

/** Milliseconds for us to read what the ended server wrote last. */
const DRAIN = 200;

function watchProcess(
  child: ChildProcessWithoutNullStreams,
  stdout: Readable,
  pid: number,
  cookie: string,
  options: StopOptions,
): ServerProcess {
  const { stdin, stderr } = child;
  const streams = [stdin, stdout, stderr];
  for (const emitter of [child, ...streams]) emitter.on("error", () => {});

  let hasExited = false;
  const exited = new Promise<ExitStatus>((resolve) => {
    const onEnd = (code: number | null, signal: NodeJS.Signals | null): void => {
      hasExited = true;
      resolve({ code, signal });
      void stop();
    };
    child.once("exit", onEnd);
    // When the command does not exist, cross-spawn swallows "exit".
    child.once("close", onEnd);
  });
  const target: StopTarget = {
    pid,
    cookie,
    exited,
    noted: [],
    hasExited: () => hasExited,
    closeStdin: () => stdin.end(),
  };

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stopProcessTree(target, options).then(() => {
      release();
      // A process that escaped may hold the pipes open, and they would keep this process alive.
      options.clock.later(DRAIN, () => {
        for (const stream of streams) stream.destroy();
      });
    });
    return stopping;
  };

  const release = sweepAtExit(target, {
    table: options.table ?? sharedProcessTable(options.platform),
    taskkill: options.taskkill ?? taskkillPath(options.ambient),
  });
  return { pid, cookie, stdin, stdout, stderr, exited, stop };
}
