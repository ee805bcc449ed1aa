// Ends what earlier hosts left behind when they were killed before they could clean up.

import type { Logger } from "../../model/logger.ts";
import { silentLogger } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { systemClock } from "../../util/clock.ts";
import type { HostIdentity } from "./cookie.ts";
import { currentHost } from "./cookie.ts";
import { endProcesses } from "./end.ts";
import { commonTable } from "./open-table.ts";
import { orphanedCookies } from "./orphan.ts";
import type { ProcessEntry, ProcessTable } from "./table.ts";
import { lineage, withKin } from "./tree.ts";

export interface ReapOptions {
  platform?: NodeJS.Platform;
  table?: ProcessTable | undefined;
  host?: HostIdentity;
  clock?: Clock;
  logger?: Logger;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace?: number;
}

export interface ReapedProcess {
  pid: number;
  ageMs: number;
}

/** An orphan may be a host itself, whose servers are orphans only once it is gone. */
const ROUNDS = 6;
/** What starts itself again whenever it is told to end is no longer told. */
const POLITE_ROUNDS = 3;

/**
 * Resolves to what was ended. Never touches a process whose host lives or that cannot be proved to be
 * ours, nor the caller and its ancestors; never rejects. Does nothing on Windows.
 */
export async function reapOrphans(options: ReapOptions = {}): Promise<ReapedProcess[]> {
  const { platform = process.platform, logger = silentLogger } = options;
  const table = options.table ?? commonTable(platform);
  if (!table) return [];
  try {
    return await reap(table, { ...options, logger });
  } catch (error) {
    logger.warn("cannot look for servers that an earlier run left behind", { error });
    return [];
  }
}

async function reap(
  table: ProcessTable,
  { host = currentHost(), clock = systemClock, logger = silentLogger, grace = 1000 }: ReapOptions,
): Promise<ReapedProcess[]> {
  const reaped: ReapedProcess[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const orphans = await findOrphans(table, host);
    if (orphans.length === 0) break;
    const options = { table, clock, grace: round < POLITE_ROUNDS ? grace : 0, patience: 2000 };
    const survivors = await endProcesses(orphans, options);
    for (const orphan of orphans) {
      if (!survivors.includes(orphan)) reaped.push({ pid: orphan.pid, ageMs: orphan.ageMs });
    }
    if (survivors.length > 0) {
      const pids = survivors.map(({ pid }) => pid);
      logger.warn("processes that an earlier run left behind cannot be ended", { pids });
      break;
    }
  }
  return reaped;
}

/**
 * Carriers of orphaned cookies and their kin, except what has a cookie of its own: that has another
 * host to answer for it. A cookie that the caller or one of its ancestors carries (a terminal that a
 * server opened, say) is left alone altogether.
 */
async function findOrphans(table: ProcessTable, host: HostIdentity): Promise<ProcessEntry[]> {
  const all = await table.list();
  const line = lineage(all, process.pid);
  const cookies = new Set<string>();
  for (const { cookie, uid } of all) if (cookie && uid === host.uid) cookies.add(cookie);
  for (const { cookie, pid } of all) if (cookie && line.has(pid)) cookies.delete(cookie);
  const orphaned = await orphanedCookies(cookies, host, table);
  const carriers = all.filter(({ cookie, uid }) => uid === host.uid && orphaned.has(cookie ?? ""));
  return withKin(all, carriers).filter(
    ({ cookie, pid, zombie }) =>
      !zombie && !line.has(pid) && (cookie === undefined || orphaned.has(cookie)),
  );
}
