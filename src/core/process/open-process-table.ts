// Opens the process table of the platform, once for all servers of this process.

import type { ProcessEntry, ProcessTable } from "./process-table.ts";
import { ProcTable } from "./proc-table.ts";
import { PsTable } from "./ps-table.ts";

/** `undefined` on Windows, where one can see neither the group nor the environment of a process. */
export function openProcessTable(platform: NodeJS.Platform): ProcessTable | undefined {
  if (platform === "win32") return undefined;
  return shareScans(platform === "linux" ? new ProcTable() : new PsTable({ platform }));
}

const opened = new Map<NodeJS.Platform, ProcessTable | undefined>();

/** The table that all servers of this process share, so that many stops at once cost one scan. */
export function sharedProcessTable(platform: NodeJS.Platform): ProcessTable | undefined {
  if (!opened.has(platform)) opened.set(platform, openProcessTable(platform));
  return opened.get(platform);
}

/**
 * Lets callers share scans. A scan that began before a caller asked may miss what the caller asks about, so
 * everyone who comes during a scan waits for the next one and shares that.
 */
export function shareScans(table: ProcessTable): ProcessTable {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<ProcessEntry[]> | undefined;
  /** The earliest that anyone asks for who waits for the next scan. */
  let earliest = "";

  async function scan(): Promise<ProcessEntry[]> {
    await running;
    next = undefined;
    const listing = table.list(earliest);
    running = listing.then(ignore, ignore);
    return listing;
  }

  return {
    list(since = "0") {
      if (next === undefined || Number(since) < Number(earliest)) earliest = since;
      return (next ??= scan());
    },
    listNow: (since) => table.listNow(since),
    descendants: (pid) => table.descendants(pid),
    living: (refs) => table.living(refs),
  };
}

function ignore(): void {}
