// How much memory a server takes: its process, and everything that this has started.

import { readFileSync } from "node:fs";
import { sharedProcessTable } from "./open-process-table.ts";

/** In bytes, as the system counts it for each process. Undefined where there is no /proc, or nothing runs. */
export async function memoryOfTree(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<number | undefined> {
  if (platform !== "linux") return undefined;
  const below = (await sharedProcessTable(platform)?.descendants(pid)) ?? [];
  const sizes = [pid, ...below.map((each) => each.pid)].map(residentBytes);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return total === 0 ? undefined : total;
}

/** Zero for a process that has just ended. */
function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
