// The differences between two definitions of a tool, part by part, in a form a person can judge: invisible
// characters are spelled out, and long text is cut around the change.

import type { FieldChange, PinnedTool } from "../../types/pin.ts";
import { plainText } from "../../../util/text.ts";

export interface Diff {
  changes: FieldChange[];
  /** There are more changes than are listed. */
  isCut: boolean;
}

export interface DiffLimits {
  /** Characters shown of each side of a change. */
  excerpt?: number;
  changes?: number;
}

const EXCERPT = 300;
const MOST_CHANGES = 50;
const LONGEST_PATH = 200;

/** What `plainText` drops, and lone surrogates. They are spelled out, or a change of only these would look like no change. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Variation_Selector}\u2028\u2029]/gu;

/** How much of the text before a change is shown, although it is the same on both sides. */
const LEAD = 40;

interface Pair {
  path: string;
  /** Of a resource or prompt. */
  isContent?: boolean;
  before: unknown;
  after: unknown;
}

export function diffTools(
  before: PinnedTool,
  after: PinnedTool,
  { excerpt: max = EXCERPT, changes: most = MOST_CHANGES }: DiffLimits = {},
): Diff {
  const changes: FieldChange[] = [];
  const isContent = /^(?:resource|prompt):/.test(after.name);
  // Not recursive: a definition may be nested as deep as the list of tools allows.
  const pairs: Pair[] = [{ path: "", before, after }];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { path, before: one, after: other } = pair;
    if (isBranch(one) && isBranch(other) && Array.isArray(one) === Array.isArray(other)) {
      for (const part of parts(path, one, other).reverse()) pairs.push(part);
      continue;
    }
    if (changes.length === most) return { changes, isCut: true };
    changes.push(toChange({ ...pair, isContent }, max));
  }
  return { changes, isCut: false };
}

/** The same for a plain text: a server's instructions. */
export function diffText(path: string, before: string, after: string, max = EXCERPT): FieldChange {
  return toChange({ path, before, after }, max);
}

/** Names the parts of a definition that changed, without quoting them. */
export function changedParts(before: PinnedTool, after: PinnedTool): string[] {
  const { changes } = diffTools(before, after, { excerpt: 0, changes: Infinity });
  return [...new Set(changes.map(({ path }) => path.replace(/[.[].*$/s, "")))];
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The parts that may differ. Equal leaves are left out; branches are compared later, part by part. */
function parts(path: string, one: object, other: object): Pair[] {
  const [mine, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const isList = Array.isArray(one);
  return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((key) => {
    const [before, after]: unknown[] = [mine.get(key), theirs.get(key)];
    if (!isBranch(before) && Object.is(before, after)) return [];
    return [{ path: childPath(path, key, isList), before, after }];
  });
}

function childPath(path: string, key: string, isList: boolean): string {
  if (path.length > LONGEST_PATH) return path;
  const name = legible(key, 80);
  if (isList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}

/** What is listed about a resource or prompt is pinned in the place of a schema. No other key may lose its place. */
const LISTED = /^inputSchema\.(?=(?:name|mimeType|arguments)(?![^.[]))/;

function toChange(pair: Pair, max: number): FieldChange {
  const { before, after } = pair;
  const path = pair.isContent === true ? pair.path.replace(LISTED, "") : pair.path;
  if (typeof before === "string" && typeof after === "string") {
    return { path, ...excerpt(before, after, max) };
  }
  return {
    path,
    before: show(before, max),
    after: show(after, max),
  };
}

function show(value: unknown, max: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return legible(value, max);
  return legible(isBranch(value) ? toJson(value) : JSON.stringify(value), max);
}

/** JSON.stringify throws when a value is nested too deep. */
function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deep to be shown)";
  }
}

/** Both texts from just before their first difference to just after their last, each cut to `max`. */
function excerpt(before: string, after: string, max: number): { before: string; after: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = start <= LEAD ? 0 : wordStart(before, start - LEAD, start);
  const to = Math.max(0, end - LEAD);
  return {
    before: cutOut(before, from, before.length - to, max),
    after: cutOut(after, from, after.length - to, max),
  };
}

/** At most `max` characters, and a note that says how many are missing. */
export function legible(text: string, max: number): string {
  const spelled = plainText(spell(text.slice(0, max)));
  const shown = spelled.length <= max ? spelled : spelled.slice(0, max);
  const missing = text.length - max;
  return missing > 0 ? `${shown}… (${missing} more characters)` : shown;
}

function cutOut(text: string, from: number, to: number, max: number): string {
  const shown = legible(text.slice(from, to), max);
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

/** The first word that begins between `from` and `limit`; `from` if none does. */
function wordStart(text: string, from: number, limit: number): number {
  const space = text.slice(from, limit).search(/\s/);
  return space === -1 ? from : from + space + 1;
}

function spell(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
