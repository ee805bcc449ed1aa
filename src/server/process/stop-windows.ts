// Stopping a server on Windows: close stdin, a short grace, then `taskkill` for the process and what
// descends from it. There are neither groups nor readable environments, so there is nothing to sweep.

import { execFile } from "node:child_process";
import { win32 } from "node:path";
import { within } from "../../util/clock.ts";
import type { StopTarget, StopTools } from "./stop.ts";

/** By its full path: a program of that name in the working directory must not get the call. */
export function taskkillPath(env: NodeJS.ProcessEnv): string {
  const root = env["SystemRoot"] ?? env["SYSTEMROOT"] ?? "C:\\Windows";
  return win32.join(root, "System32", "taskkill.exe");
}

export async function stopOnWindows(
  target: StopTarget,
  taskkill: string,
  { clock, logger, timing, stopContainers }: StopTools,
): Promise<void> {
  target.closeStdin();
  if (await within(clock, timing.eof, target.exited)) {
    await stopContainers?.();
    return;
  }
  const containers = stopContainers?.();
  await within(clock, timing.term, run(taskkill, ["/pid", String(target.pid), "/T", "/F"]));
  if (!(await within(clock, timing.kill, target.exited))) {
    logger.warn("a server's process cannot be ended", { pid: target.pid });
  }
  await containers;
}

function run(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    execFile(file, args, { windowsHide: true }, () => resolve());
  });
}
