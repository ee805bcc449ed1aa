// Which process table a platform has.

import type { ProcessTable } from "./table.ts";
import { shareScans } from "./table.ts";
import { ProcTable } from "./table-proc.ts";
import { PsTable } from "./table-ps.ts";

/** `undefined` on Windows, where neither group nor environment of a process can be seen. */
export function openTable(platform: NodeJS.Platform): ProcessTable | undefined {
  if (platform === "win32") return undefined;
  return shareScans(platform === "linux" ? new ProcTable() : new PsTable({ platform }));
}

const opened = new Map<NodeJS.Platform, ProcessTable | undefined>();

/** The table that all servers of this process share, so that many stops at once cost one scan. */
export function commonTable(platform: NodeJS.Platform): ProcessTable | undefined {
  if (!opened.has(platform)) opened.set(platform, openTable(platform));
  return opened.get(platform);
}
