// Who is an orphan: a process or container whose cookie names a host of ours that is dead.

import type { HostIdentity } from "./cookie.ts";
import { parseCookie } from "./cookie.ts";
import type { ProcessTable } from "./table.ts";

/**
 * Those of `cookies` that were given out by a host of this user, this boot and this pid namespace
 * which no longer runs. Anything in doubt is not among them.
 */
export async function orphanedCookies(
  cookies: Iterable<string>,
  host: HostIdentity,
  table: ProcessTable,
): Promise<Set<string>> {
  const known = new Map<string, { pid: number; start: string }>();
  for (const text of cookies) {
    const cookie = parseCookie(text);
    if (!cookie || cookie.start === "0") continue;
    if (cookie.uid === host.uid && cookie.space === host.space) known.set(text, cookie);
  }
  const alive = new Set(await table.living([...known.values()]));
  return new Set([...known].flatMap(([text, cookie]) => (alive.has(cookie) ? [] : text)));
}
