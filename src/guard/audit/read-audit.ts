// Reads an audit from its oldest file on, and goes on with what is written if that is asked for.

import { stat } from "node:fs/promises";
import { type Clock, pause, systemClock } from "../../util/clock.ts";
import { type AuditLine, readLine } from "./entry.ts";
import { rotatedFiles } from "./rotation.ts";
import { Tail } from "./tail.ts";

export interface ReadAuditOptions {
  file: string;
  /** Go on after the end, until the signal. */
  follow?: boolean;
  filter?: (line: AuditLine) => boolean;
  /** Only so many of those that are there already, the last ones. */
  last?: number;
  signal?: AbortSignal;
  clock?: Clock;
}

const POLL_MS = 200;

/** What is not a line of an audit is passed over. Rejects where a file may not be read. */
export async function* readAudit(options: ReadAuditOptions): AsyncGenerator<AuditLine> {
  const { file, follow = false, last = Infinity } = options;
  const { signal = new AbortController().signal, clock = systemClock } = options;
  // The oldest first, and the current one last. What was renamed stays open until nobody writes to it.
  let tails: Tail[] = [];
  try {
    tails = await openNew(file, tails);
    yield* lastOf(read(tails, options), last);
    if (!follow) return;
    while (!signal.aborted) {
      await pause(clock, POLL_MS, signal);
      const isRotated = tails.length === 0 || (await inodeOf(file)) !== tails.at(-1)?.inode;
      yield* read(tails, options);
      // A writer that had not noticed yet may have written to the renamed file until the last look.
      for (const done of tails.splice(0, tails.length - 1)) await done.close();
      if (!isRotated) continue;
      const fresh = await openNew(file, tails);
      tails = [...tails, ...fresh];
      yield* read(fresh, options);
    }
  } finally {
    for (const tail of tails) await tail.close();
  }
}

async function* read(
  tails: readonly Tail[],
  { filter = () => true, signal }: ReadAuditOptions,
): AsyncGenerator<AuditLine> {
  for (const tail of tails) {
    for await (const text of tail.lines()) {
      if (signal?.aborted) return;
      const line = readLine(text);
      if (line !== undefined && filter(line)) yield line;
    }
  }
}

/**
 * From the newest back to one that is open already. In this order a rotation in between shows a file
 * twice, which can be told by its inode, and never skips one.
 */
async function openNew(file: string, known: readonly Tail[]): Promise<Tail[]> {
  const found: Tail[] = [];
  for (const path of [file, ...rotatedFiles(file)]) {
    const tail = await Tail.open(path);
    if (tail === undefined) continue;
    const isKnown = known.some(({ inode }) => inode === tail.inode);
    const isTwice = found.some(({ inode }) => inode === tail.inode);
    if (isKnown || isTwice) await tail.close();
    else found.unshift(tail);
    if (isKnown) break;
  }
  return found;
}

async function* lastOf(lines: AsyncIterable<AuditLine>, last: number): AsyncGenerator<AuditLine> {
  if (last === Infinity) {
    yield* lines;
    return;
  }
  let kept: AuditLine[] = [];
  for await (const line of lines) {
    kept.push(line);
    // Now and then, so that it costs nothing per line.
    if (kept.length > last * 2 + 1000) kept = kept.slice(kept.length - last);
  }
  yield* last === 0 ? [] : kept.slice(-last);
}

async function inodeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
