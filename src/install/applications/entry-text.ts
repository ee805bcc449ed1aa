// The text of an application's file with our entries in it, and without them; and what has changed, as splices by which
// the change can be shown and taken back.

import { PlugboardError } from "../../core/types/errors.ts";
import { setTable, removeTable, tomlValueAt } from "../../core/config/text/edit-toml.ts";
import { removeValue, setValue, valueAt } from "../../core/config/text/edit.ts";
import { configInvalid, type KeyPath } from "../../core/config/issue.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { ConnectedApplication, Entry } from "./applications.ts";

/** At `start`, `removed` has become `added`. */
export interface Splice {
  start: number;
  removed: string;
  added: string;
}

type Syntax = ConnectedApplication["syntax"];

export interface Edited {
  text: string;
  /** In their order; each is about the text that the one before has left. */
  splices: Splice[];
}

export function readValue(syntax: Syntax, text: string, file: string): unknown {
  return within(file, () => (syntax === "toml" ? tomlValueAt(text, []) : valueAt(text, [])));
}

/**
 * The text without the entries in `gone`, and without those of the objects in `emptied` that are empty then; and then with the
 * entries in `wanted`.
 */
export function withEntries(
  syntax: Syntax,
  text: string,
  {
    gone = [],
    emptied = [],
    wanted,
  }: {
    gone?: readonly Pick<Entry, "path">[];
    emptied?: readonly KeyPath[];
    wanted: readonly Entry[];
  },
  file: string,
): Edited {
  const splices: Splice[] = [];
  let now = text;
  const edit = (change: (text: string) => string): void => {
    const next = within(file, () => change(now));
    if (next !== now) splices.push(difference(now, next));
    now = next;
  };
  for (const { path } of gone) {
    edit((each) =>
      syntax === "toml" ? removeTable(each, tablePath(path)) : removeValue(each, path),
    );
  }
  // A table in TOML needs no other around it.
  for (const path of syntax === "toml" ? [] : emptied) {
    edit((each) => (isEmptyObject(valueAt(each, path)) ? removeValue(each, path) : each));
  }
  for (const { path, value } of wanted) {
    edit((each) =>
      syntax === "toml"
        ? setTable(each, tablePath(path), value as Parameters<typeof setTable>[2])
        : setValue(each, path, value),
    );
  }
  return { text: now, splices };
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function tablePath(path: KeyPath): string[] {
  return path.map(String);
}

export function applied(text: string, splices: readonly Splice[]): string {
  return splices.reduce(
    (now, { start, removed, added }) =>
      now.slice(0, start) + added + now.slice(start + removed.length),
    text,
  );
}

/** The same change in the other direction. */
export function undone(splices: readonly Splice[]): Splice[] {
  return splices
    .toReversed()
    .map(({ start, removed, added }) => ({ start, removed: added, added: removed }));
}

/** Undefined where the text is not what the splices have left. */
export function takeBack(text: string, splices: readonly Splice[]): string | undefined {
  let now = text;
  for (const { start, removed, added } of splices.toReversed()) {
    if (now.slice(start, start + added.length) !== added) return undefined;
    now = now.slice(0, start) + removed + now.slice(start + added.length);
  }
  return now;
}

/** One splice, whatever has happened: everything between the first and the last character that differ. */
function difference(before: string, after: string): Splice {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = 0;
  while (
    end < most - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end++;
  }
  return {
    start,
    removed: before.slice(start, before.length - end),
    added: after.slice(start, after.length - end),
  };
}

/** An error about the text also names the file. */
function within<T>(file: string, edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "CONFIG_INVALID") throw error;
    throw configInvalid(
      error.problems.map((problem) => ({ file, ...problem })),
      error,
    );
  }
}
