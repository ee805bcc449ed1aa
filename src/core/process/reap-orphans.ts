// Ends the processes that earlier hosts left behind when they were killed before they could clean up.

import { type Logger, silentLogger } from "../types/logger.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { type HostIdentity, parseCookie } from "./cookie.ts";
import { currentHost } from "./host-identity.ts";
import { sharedProcessTable } from "./open-process-table.ts";
import {
  pidsOf,
  type ProcessEntry,
  type ProcessRef,
  type ProcessTable,
  withAncestors,
  withRelatives,
} from "./process-table.ts";
import { oneLine } from "../../util/text.ts";
import { terminateProcesses } from "./terminate-processes.ts";

const LONGEST_NAME = 40;
const MOST_NAMES = 10;

export interface ReapOptions {
  platform?: NodeJS.Platform;
  table?: ProcessTable;
  host?: HostIdentity;
  clock?: Clock;
  logger?: Logger;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace?: number;
}

let reaped: Promise<void> | undefined;

/** Reaps once in the life of this process. Never rejects. */
export function reapOrphansOnce(clock: Clock, logger: Logger): Promise<void> {
  reaped ??= reapOrphans({ clock, logger }).then(() => {});
  return reaped;
}

/**
 * Resolves to what was ended. Never touches a process whose host is alive, one that is not provably ours,
 * the caller or its ancestors. Never rejects. Does nothing on Windows.
 */
export async function reapOrphans(options: ReapOptions = {}): Promise<ProcessEntry[]> {
  const { platform = process.platform, host = currentHost(), grace = 1000 } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const { table = sharedProcessTable(platform) } = options;
  if (!table) return [];
  try {
    // An orphan may be a host itself, and its servers become orphans only when it is gone: hence more rounds.
    const { ended, survivors } = await terminateProcesses(() => findOrphans(table, host), {
      table,
      clock,
      grace,
      patience: 2000,
      sigtermRounds: 3,
    });
    if (survivors.length > 0) {
      const text = `processes that an earlier run left behind cannot be ended: ${namesOf(survivors)}`;
      logger.warn(text, { pids: pidsOf(survivors) });
    }
    if (ended.length > 0) {
      const text = `ended processes that an earlier run left behind: ${namesOf(ended)}`;
      logger.warn(text, { pids: pidsOf(ended) });
    }
    return ended;
  } catch (error) {
    logger.warn("cannot look for servers that an earlier run left behind", { error });
    return [];
  }
}

/** What `reapOrphans` would end. Empty where it cannot be looked up. Never rejects. */
export async function listOrphans(options: ReapOptions = {}): Promise<ProcessEntry[]> {
  const { platform = process.platform, host = currentHost() } = options;
  const { table = sharedProcessTable(platform) } = options;
  return table === undefined ? [] : findOrphans(table, host).catch(() => []);
}

/** `node, sh (2)` */
export function namesOf(entries: readonly ProcessEntry[]): string {
  const counts = new Map<string, number>();
  for (const { name = "unknown" } of entries) {
    const shown = oneLine(name, LONGEST_NAME);
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`));
  const rest = names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [];
  return [...names.slice(0, MOST_NAMES), ...rest].join(", ");
}

/**
 * The processes with orphaned cookies and their relatives, except relatives with another cookie: those
 * belong to another host. A cookie that the caller or one of its ancestors carries is left alone; the caller
 * may run in a terminal that such a server opened.
 */
async function findOrphans(table: ProcessTable, host: HostIdentity): Promise<ProcessEntry[]> {
  const all = await table.list();
  const spared = withAncestors(all, process.pid);
  const cookies = new Set<string>();
  for (const { cookie, uid } of all) if (cookie && uid === host.uid) cookies.add(cookie);
  for (const { cookie, pid } of all) if (cookie && spared.has(pid)) cookies.delete(cookie);
  const orphaned = await orphanedCookies(cookies, host, table);
  const carriers = all.filter(({ cookie, uid }) => uid === host.uid && orphaned.has(cookie ?? ""));
  const orphans = withRelatives(all, carriers).filter(
    ({ cookie, pid, zombie }) =>
      !zombie && !spared.has(pid) && (cookie === undefined || orphaned.has(cookie)),
  );
  // A host may have ended since the list was made. It stops its servers first: those are gone, not left behind.
  return table.living(orphans);
}

/**
 * Those of `cookies` whose host is dead and was of this user, this boot and this pid namespace. Anything in
 * doubt is not among them.
 */
export async function orphanedCookies(
  cookies: Iterable<string>,
  host: HostIdentity,
  table: ProcessTable,
): Promise<Set<string>> {
  const known = new Map<string, ProcessRef>();
  for (const text of cookies) {
    const cookie = parseCookie(text);
    if (!cookie || cookie.start === "0") continue;
    if (cookie.uid === host.uid && cookie.space === host.space) known.set(text, cookie);
  }
  const alive = new Set(await table.living([...known.values()]));
  return new Set([...known].flatMap(([text, cookie]) => (alive.has(cookie) ? [] : text)));
}
