// A change to an application's file: planned from what the file shall have of ours, shown, asked for, written, and kept, so
// that it can be taken back.

import { rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { KeyPath } from "../../core/config/issue.ts";
import { requirePlace, type TextFile, writeTextFile } from "../../core/config/text/text-file.ts";
import { valueIn } from "../../core/types/json.ts";
import { pathExists } from "../../util/path-exists.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { requireYes } from "../terminal/input.ts";
import type { Paint } from "../terminal/terminal.ts";
import type { ConnectedApplication, Entry } from "../../install/applications/applications.ts";
import {
  applied,
  type Edited,
  type Splice,
  undone,
  withEntries,
} from "../../install/applications/entry-text.ts";
import { valueOf } from "../../install/applications/found.ts";
import { changeLines, secretsIn } from "./preview.ts";
import {
  type ConnectRecord,
  hashOf,
  readBefore,
  removeRecord,
  writeRecord,
} from "../../install/applications/record.ts";

export interface Wish {
  application: Pick<ConnectedApplication, "syntax">;
  file: TextFile;
  /** Plugboard's. */
  home: string;
  /** Our entries in the file. The change removes those that are not wanted. */
  present: readonly Entry[];
  /**
   * The entries that the file shall have. `value` is the content of the file without our entries, where that is known.
   */
  wanted: (value: unknown) => readonly Entry[];
  /** Places of the application's own servers to take out. `before` are those that were taken out earlier. */
  moved?: (before: readonly KeyPath[]) => readonly KeyPath[];
}

export interface Change {
  file: TextFile;
  home: string;
  wanted: readonly Entry[];
  /** Whether it is known what the file was without anything of ours. */
  isExact: boolean;
  /** Servers that were moved onto the board and are not put back. */
  notBack: readonly KeyPath[];
  outcome:
    | { kind: "same" }
    | {
        kind: "text";
        text: string;
        steps: readonly Edited[];
        /** Credentials of the application's own servers that come or go. They are not shown. */
        secrets: readonly string[];
        record: ConnectRecord | undefined;
      }
    /** The file was made for this, and goes with the directories that were made for it. */
    | { kind: "removal"; directories: readonly string[] };
}

/** The file may get credentials of other servers later. */
const OWN_MODE = 0o600;

/** Rejects with CONFIG_INVALID for a file that cannot be changed, and with SYSTEM_ERROR for a new one that has no place. */
export async function planChange(wish: Wish): Promise<Change> {
  const { application, file, home, present } = wish;
  const before = await readBefore(file, home);
  const isExact = before.directories !== undefined;
  const base = before.text ?? "";
  const value = valueOf(application, { ...file, text: before.text });
  const wanted = inOrder(wish.wanted(value), before.paths);
  const moved = (wish.moved?.(before.moved) ?? []).filter(
    (path) => valueIn(value, path) !== undefined,
  );
  const notBack = isExact ? [] : before.moved.filter((path) => valueIn(value, path) === undefined);
  const change = { file, home, wanted, isExact, notBack };
  if (wanted.length === 0 && isExact && before.text === undefined) {
    return { ...change, outcome: { kind: "removal", directories: before.directories ?? [] } };
  }
  const gone = present.filter((entry) => isIn(value, entry) && !wanted.some(isAt(entry)));
  const out = [...gone, ...moved.map((path) => ({ path }))];
  const edits = { gone: out, emptied: wanted.length === 0 ? before.made : [], wanted };
  const { text, splices } = withEntries(application.syntax, base, edits, file.file);
  if (text === (file.text ?? "")) return { ...change, outcome: { kind: "same" } };
  await requirePlace(file);
  // Where something of ours is there before, nobody knows what the file was without it.
  const isKept =
    wanted.length > 0 &&
    gone.length === 0 &&
    wanted.every(({ path }) => valueIn(value, path) === undefined);
  const record = isKept
    ? {
        file: file.target,
        before: before.text === undefined ? undefined : hashOf(before.text),
        after: hashOf(text),
        splices,
        paths: wanted.map(({ path }) => path),
        made: missingContainers(wanted, value),
        ...(moved.length > 0 && { moved: [...moved] }),
        directories: before.directories ?? (await missingDirectories(file.target)),
      }
    : undefined;
  const steps = stepsOf(file.text ?? "", base, before.splices, splices);
  const secrets = [...before.moved, ...moved].flatMap((path) => secretsIn(valueIn(value, path)));
  return { ...change, outcome: { kind: "text", text, steps, secrets, record } };
}

export function isChanged({ outcome }: Change): boolean {
  return outcome.kind !== "same";
}

/** What an earlier change has put there comes first, in its order: then nothing moves where nothing changes. */
function inOrder(entries: readonly Entry[], earlier: readonly KeyPath[]): Entry[] {
  const rank = ({ path }: Entry): number => {
    const at = earlier.findIndex((each) => isDeepStrictEqual(each, path));
    return at === -1 ? earlier.length : at;
  };
  return entries.toSorted((a, b) => rank(a) - rank(b));
}

function isIn(value: unknown, entry: Entry): boolean {
  const there = valueIn(value, entry.path);
  return typeof entry.value === "object"
    ? there !== undefined
    : isDeepStrictEqual(there, entry.value);
}

function isAt({ path }: Entry): (other: Entry) => boolean {
  return (other) => isDeepStrictEqual(path, other.path);
}

/** The changes from the present file to the new one. Entries of an earlier change that stay are not shown again. */
function stepsOf(
  text: string,
  base: string,
  earlier: readonly Splice[],
  splices: readonly Splice[],
): Edited[] {
  const differs = splices.findIndex((splice, at) => !isDeepStrictEqual(splice, earlier[at]));
  const same = differs === -1 ? Math.min(splices.length, earlier.length) : differs;
  return [
    { text, splices: undone(earlier.slice(same)) },
    { text: applied(base, splices.slice(0, same)), splices: splices.slice(same) },
  ];
}

/** The objects around the entries that are not in `value`, the innermost first. */
function missingContainers(wanted: readonly Entry[], value: unknown): KeyPath[] {
  const around = wanted.flatMap(({ path }) =>
    path.slice(1).map((_, at) => path.slice(0, path.length - 1 - at)),
  );
  const missing = around.filter((path) => valueIn(value, path) === undefined);
  const distinct = missing.filter(
    (path, at) => missing.findIndex((each) => isDeepStrictEqual(each, path)) === at,
  );
  return distinct.toSorted((a, b) => b.length - a.length);
}

async function missingDirectories(file: string): Promise<string[]> {
  const missing: string[] = [];
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    if ((await pathExists(directory)) || directory === dirname(directory)) return missing;
    missing.unshift(directory);
  }
}

export interface AskOptions {
  yes: boolean;
  /** What else there is to know before the answer. */
  notes?: readonly string[];
  /** What a no leaves. Default: nothing has changed. */
  otherwise?: string | undefined;
}

/** The lines that come (`+ `) and go (`- `), and one around them. None for a file that is removed as a whole. */
export function linesOfChange({ outcome }: Pick<Change, "outcome">): string[] {
  if (outcome.kind !== "text") return [];
  const { steps, secrets } = outcome;
  return steps.flatMap((step) => changeLines(step.text, step.splices, secrets));
}

/** Where the file is not at the place that its path names. */
export function linkNotes({ file }: Pick<Change, "file">): string[] {
  if (file.target === file.file) return [];
  return [`${visible(file.file)} is behind a link: the file is ${visible(file.target)}`];
}

/** Shows the change, asks, and writes. Rejects with NOT_APPROVED, and with SYSTEM_ERROR where it cannot be written. */
export async function makeChange(
  change: Change,
  { yes, notes = [], otherwise }: AskOptions,
  context: CliContext,
): Promise<void> {
  const { screen } = context;
  const { file, outcome } = change;
  if (outcome.kind === "same") return;
  for (const line of linkNotes(change)) screen.note(line);
  if (outcome.kind === "removal") {
    screen.note(`${visible(file.file)} was made for this, and would be removed`);
    for (const line of linkNotes(change)) screen.note(line);
    await requireYes("Remove it?", { yes, what: "remove it" }, context);
    return writeChange(change);
  }
  screen.note(`${visible(file.file)} would change:`);
  for (const line of linesOfChange(change)) {
    screen.note(painted(line, screen.terminal.err.paint));
  }
  for (const line of notes) screen.note(line);
  await requireYes("Write it?", { yes, what: "write it", otherwise }, context);
  await writeChange(change);
}

/** Writes what was shown. Rejects with SYSTEM_ERROR. */
export async function writeChange({ file, home, outcome }: Change): Promise<void> {
  if (outcome.kind === "same") return;
  if (outcome.kind === "removal") {
    await rm(file.target);
    for (const directory of outcome.directories.toReversed()) {
      // Somebody else may have put something into it.
      await rmdir(directory).catch(() => undefined);
    }
    return removeRecord(home, file.target);
  }
  const { text, record } = outcome;
  if (record !== undefined) await writeRecord(home, record);
  await writeTextFile(file, text, { mode: OWN_MODE });
  if (record === undefined) await removeRecord(home, file.target);
}

function painted(line: string, paint: Paint): string {
  if (line.startsWith("+")) return paint("green", line);
  return line.startsWith("-") ? paint("red", line) : line;
}
