// The process table as a port: which processes run, under which parent, since when, and with which
// cookie; and who is related to whom in it.

/** A pid alone is reused sooner or later; together with its start time it names one process. */
export interface ProcessRef {
  pid: number;
  start: string;
}

export interface ProcessEntry extends ProcessRef {
  ppid: number;
  pgid: number;
  /** Known at least where there is a cookie. */
  uid?: number;
  ageMs: number;
  /** It has ended, and its parent has not noticed yet. */
  zombie: boolean;
  /** Absent where there is none and where we may not read it. */
  cookie?: string;
  /** The program, without its directory. Known at least where there is a cookie. */
  name?: string;
}

export interface ProcessTable {
  /**
   * Every program that runs now. Cookies are read of this user's processes only, and of no process that started before
   * `since`: what a host started is not older than the host, and to read an environment is what takes the time.
   */
  list(since?: string): Promise<ProcessEntry[]>;
  /** The same, synchronously, for a process that is about to exit. */
  listNow(since: string): ProcessEntry[];
  /** The living children of `pid`, their children, and so on. */
  descendants(pid: number): Promise<ProcessRef[]>;
  /** The processes in `refs` that are still the same, and alive. */
  living<Ref extends ProcessRef>(refs: readonly Ref[]): Promise<Ref[]>;
}

/** `/usr/bin/node` is `node`. */
export function programName(path: string): string | undefined {
  return path.slice(path.lastIndexOf("/") + 1) || undefined;
}

/** `roots`, their descendants, and the groups that any of these lead; each process once. */
export function withRelatives(
  entries: readonly ProcessEntry[],
  roots: readonly ProcessEntry[],
): ProcessEntry[] {
  const children = groupBy(entries, ({ ppid }) => ppid);
  const groups = groupBy(entries, ({ pgid }) => pgid);
  const found = new Set(roots);
  for (const { pid } of found) {
    for (const child of children.get(pid) ?? []) found.add(child);
    for (const member of groups.get(pid) ?? []) found.add(member);
  }
  return [...found];
}

/** The living relatives of `pid`, without `pid` itself. */
export function relativesOf(entries: readonly ProcessEntry[], pid: number): ProcessEntry[] {
  const roots = entries.filter((entry) => entry.pid === pid);
  return withRelatives(entries, roots).filter((entry) => entry.pid !== pid && !entry.zombie);
}

/** `pid` itself, its parent, its parent's parent, and so on. */
export function withAncestors(entries: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(entries.map((entry) => [entry.pid, entry.ppid]));
  const line = new Set<number>();
  for (let at: number | undefined = pid; at && !line.has(at); at = parents.get(at)) line.add(at);
  return line;
}

export function pidsOf(refs: readonly ProcessRef[]): number[] {
  return refs.map(({ pid }) => pid);
}

function groupBy(
  entries: readonly ProcessEntry[],
  key: (entry: ProcessEntry) => number,
): Map<number, ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>();
  for (const entry of entries) {
    const group = groups.get(key(entry));
    if (group) group.push(entry);
    else groups.set(key(entry), [entry]);
  }
  return groups;
}
