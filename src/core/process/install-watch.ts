// Watches a program that first gets a package and then starts it, such as npx: what it takes to install the package is not
// the server's own time.

import { basename } from "node:path";
import type { Clock, Timer } from "../../util/clock.ts";
import { sharedProcessTable } from "./open-process-table.ts";
import type { ProcessTable } from "./process-table.ts";

/** They start the server as a child of theirs, once they have it. */
const INSTALLERS = /^(?:npx|uvx)$/;

/** An installation may take this long. */
export const INSTALL_MS = 300_000;
const LOOK_MS = 2000;

/** The name of the program, if it is one that installs first. */
export function installerOf(command: string): string | undefined {
  const name = basename(command);
  return INSTALLERS.test(name) ? name : undefined;
}

export interface InstallWatchOptions {
  pid: number;
  clock: Clock;
  /** Milliseconds that the server itself may take. */
  timeout: number;
  /** True once the runner seems to be getting the package, since no process runs below it; false once one runs and stays. */
  onInstalling: (isInstalling: boolean) => void;
  /** The time is up: that of the server, or that of the installation. */
  onLate: (whose: "server" | "installer") => void;
  table?: Pick<ProcessTable, "descendants"> | undefined;
}

/** Undefined where one cannot see what runs below a process. The watch ends with the function that it gives. */
export function watchInstall(options: InstallWatchOptions): (() => void) | undefined {
  const { pid, clock, timeout, onInstalling, onLate } = options;
  const { table = sharedProcessTable(process.platform) } = options;
  if (table === undefined) return undefined;
  let isOver = false;
  let timer: Timer | undefined;
  let isInstalling = false;
  let wasBelow = false;
  let ofServer = 0;
  let ofInstaller = 0;
  let last = clock.monotonic();
  const look = async (): Promise<void> => {
    const below = await table.descendants(pid).catch(() => []);
    if (isOver) return;
    const passed = clock.monotonic() - last;
    last += passed;
    const isBelow = below.length > 0;
    if (isBelow) ofServer += passed;
    else ofInstaller += passed;
    // Seen once, it may be a script of the package.
    if (isInstalling ? isBelow && wasBelow : !isBelow) {
      isInstalling = !isInstalling;
      onInstalling(isInstalling);
    }
    wasBelow = isBelow;
    if (ofServer >= timeout) onLate("server");
    else if (ofInstaller >= INSTALL_MS) onLate("installer");
    else next();
  };
  const next = (): void => {
    timer = clock.later(Math.min(LOOK_MS, timeout), () => void look());
  };
  next();
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
