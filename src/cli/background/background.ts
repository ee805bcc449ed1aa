// A gateway in the background, which a command has started (background/start.ts): where it writes, how the
// command learns that it is ready, and what it does if another one was faster.

import { closeSync, fstatSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { plugboardHome } from "../../core/config/home.ts";
import { tryLock } from "../../core/state/lock.ts";
import { findGateway, gatewayFile } from "../../core/state/running-gateway.ts";
import { pause } from "../../util/clock.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import type { OpenedGateway } from "../../serve/gateway/open-gateway.ts";
import type { CliContext } from "../context.ts";
import { READY } from "./start.ts";
import { BackgroundLog } from "./log.ts";

/** A gateway that stops lets calls in flight finish, and then stops its servers. */
const OTHER_WITHIN_MS = 15_000;
const LOOK_MS = 25;

/** From here on everything that is printed goes to the log. `place` is that of the configuration (config/find.ts). */
export async function logInBackground(
  place: string | undefined,
  { io, clock }: CliContext,
): Promise<void> {
  const path = gatewayFile(plugboardHome(io.env, io.homedir), place, "log");
  await makeDirectory(dirname(path));
  new BackgroundLog(path, { clock }).claim(io.stdout, io.stderr);
}

/** A descriptor with this mark is not passed on to other programs. Node sets it on everything that it opens. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes the files that whoever started the command had open, except `kept`: a lock among them would be held for as long
 * as the gateway runs, and its servers would have them too. Only Linux tells which ones these are.
 */
export function closeInherited(kept: number): void {
  if (process.platform !== "linux") return;
  for (const fd of readdirSync("/proc/self/fd").map(Number)) {
    if (fd <= 2 || fd === kept) continue;
    try {
      const info = readFileSync(`/proc/self/fdinfo/${fd}`, "latin1");
      const [, flags] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
      if (flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(fd);
    } catch {
      // It was the directory itself, and is closed.
    }
  }
}

/** Undefined if another command has started one at the same time, which then runs. Rejects as `open` does. */
export async function openUnlessRunning(
  open: () => Promise<OpenedGateway>,
  place: string | undefined,
  { io, clock, signal }: CliContext,
): Promise<OpenedGateway | undefined> {
  const stateDir = plugboardHome(io.env, io.homedir);
  const deadline = clock.monotonic() + OTHER_WITHIN_MS;
  let wasFree = false;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if ((await findGateway(stateDir, place)) !== undefined) return undefined;
      // If nobody holds the lock, the start failed for another reason. But the lock may also have been released a
      // moment ago.
      const unlock = await tryLock(gatewayFile(stateDir, place, "lock"));
      await unlock?.();
      const isFree = unlock !== undefined;
      if ((isFree && wasFree) || clock.monotonic() > deadline || signal.aborted) throw error;
      wasFree = isFree;
    }
    await pause(clock, LOOK_MS, signal);
  }
}

/** Tells the command that waits at the other end of the pipe. */
export function tellReady(fd: number | undefined): void {
  if (fd === undefined) return;
  try {
    // Whatever else has this number must be left alone.
    if (!isPipe(fstatSync(fd))) return;
    writeSync(fd, READY);
    closeSync(fd);
  } catch {
    // The command has ended in the meantime.
  }
}

const FILE_TYPE = 0o170000;
const PIPE = 0o010000;
const SOCKET = 0o140000;

/** By its mode: on Windows, Node says of everything that it is no pipe. */
export function isPipe({ mode }: { mode: number }): boolean {
  return [PIPE, SOCKET].includes(mode & FILE_TYPE);
}
