// The process table as a port: who runs, under whom, since when, and with which cookie.

/** A pid alone names nothing for long; with its start time it does. */
export interface ProcessRef {
  pid: number;
  start: string;
}

export interface ProcessEntry extends ProcessRef {
  ppid: number;
  pgid: number;
  uid: number;
  ageMs: number;
  /** Ended, and only waiting for its parent to notice. */
  zombie: boolean;
  /** Absent where there is none and where it may not be read. */
  cookie?: string;
}

export interface ProcessTable {
  /** Everything that runs now. Cookies are read for this user's processes only. */
  list(): Promise<ProcessEntry[]>;
  /** The living children of `pid`, theirs, and so on. */
  descendants(pid: number): Promise<ProcessRef[]>;
  /** Those of `refs` that still are the same process, and alive. */
  living<Ref extends ProcessRef>(refs: readonly Ref[]): Promise<Ref[]>;
}

/**
 * Lets callers share scans. Nobody may be given a scan that began before they asked, so whoever comes
 * while one is under way waits for the next, together with all the others who do.
 */
export function shareScans(table: ProcessTable): ProcessTable {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<ProcessEntry[]> | undefined;

  async function scan(): Promise<ProcessEntry[]> {
    await running;
    next = undefined;
    const listing = table.list();
    running = listing.then(ignore, ignore);
    return listing;
  }

  return {
    list: () => (next ??= scan()),
    descendants: (pid) => table.descendants(pid),
    living: (refs) => table.living(refs),
  };
}

function ignore(): void {}
