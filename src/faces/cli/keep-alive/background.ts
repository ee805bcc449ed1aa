// A gateway in the background, which a command has started (keep-alive/start-background.ts): where it writes, how the
// command learns that it is ready, and what it does if another one was faster.

import { closeSync, fstatSync, writeSync } from "node:fs";
import { plugboardHome } from "../../../config/home.ts";
import { tryLock } from "../../../state/lock.ts";
import { findGateway, gatewayFile } from "../../../state/running-gateway.ts";
import { pause } from "../../../util/clock.ts";
import type { OpenedGateway } from "../../gateway/open-gateway.ts";
import type { CliContext } from "../context.ts";
import { READY } from "./start-background.ts";
import { BackgroundLog } from "./background-log.ts";

/** A gateway that stops lets calls in flight finish, and then stops its servers. */
const OTHER_WITHIN_MS = 15_000;
const LOOK_MS = 25;

/** From here on everything that is printed goes to the log. `place` is that of the configuration (config/find.ts). */
export function logInBackground(place: string | undefined, { io, clock }: CliContext): void {
  const path = gatewayFile(plugboardHome(io.env, io.homedir), place, "log");
  new BackgroundLog(path, { clock }).claim(io.stdout, io.stderr);
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
      // It failed for another reason if nobody holds the lock; but it may just have been released.
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
    const found = fstatSync(fd);
    // Whatever else has this number must be left alone.
    if (!found.isFIFO() && !found.isSocket()) return;
    writeSync(fd, READY);
    closeSync(fd);
  } catch {
    // The command has ended in the meantime.
  }
}
