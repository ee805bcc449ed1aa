// Kinship in a process table.

import type { ProcessEntry } from "./table.ts";

/** `roots`, what descends from them, and the groups that any of these lead; each once. */
export function withKin(
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

/** Everything alive below `pid`, without itself. */
export function below(entries: readonly ProcessEntry[], pid: number): ProcessEntry[] {
  const roots = entries.filter((entry) => entry.pid === pid);
  return withKin(entries, roots).filter((entry) => entry.pid !== pid && !entry.zombie);
}

/** `pid` itself, its parent, and so on up. */
export function lineage(entries: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(entries.map((entry) => [entry.pid, entry.ppid]));
  const line = new Set<number>();
  for (let at: number | undefined = pid; at && !line.has(at); at = parents.get(at)) line.add(at);
  return line;
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
