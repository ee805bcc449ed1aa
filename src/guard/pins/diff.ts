// What differs between two definitions of a tool, part by part, in a form a person can read.

import { isJsonObject } from "../../model/json.ts";
import { excerpt, legible } from "./excerpt.ts";
import type { PinnedTool } from "./hash.ts";

/** A part that one side alone has lacks the other. */
export interface FieldChange {
  /** As in `inputSchema.properties.path.type`. */
  path: string;
  before?: string;
  after?: string;
}

export interface Diff {
  changes: FieldChange[];
  /** There are more than are listed. */
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

interface Pair {
  path: string;
  before: unknown;
  after: unknown;
}

export function diffTools(
  before: PinnedTool,
  after: PinnedTool,
  { excerpt: max = EXCERPT, changes: most = MOST_CHANGES }: DiffLimits = {},
): Diff {
  const changes: FieldChange[] = [];
  // Never recursive: it may be as deep as the list of tools allows.
  const pairs: Pair[] = [{ path: "", before, after }];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    if (isBranch(pair.before) && isBranch(pair.after) && isAlike(pair.before, pair.after)) {
      for (const part of parts(pair).reverse()) pairs.push(part);
      continue;
    }
    if (changes.length === most) return { changes, isCut: true };
    changes.push(toChange(pair, max));
  }
  return { changes, isCut: false };
}

/** The same for texts that are no tool's: a server's instructions. */
export function diffText(path: string, before: string, after: string, max = EXCERPT): FieldChange {
  return toChange({ path, before, after }, max);
}

/** The parts of a definition that changed, without a word of what they say. */
export function changedParts(before: PinnedTool, after: PinnedTool): string[] {
  const { changes } = diffTools(before, after, { excerpt: 0, changes: Infinity });
  return [...new Set(changes.map(({ path }) => path.replace(/[.[].*$/s, "")))];
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isAlike(a: object, b: object): boolean {
  return Array.isArray(a) === Array.isArray(b);
}

/** Leaves alone: whether two branches are the same shows when they are taken apart. */
function isSame(a: unknown, b: unknown): boolean {
  return !isBranch(a) && Object.is(a, b);
}

/** Without those that are the same at a glance. */
function parts({ path, before, after }: Pair): Pair[] {
  const keys = new Set([...keysOf(before), ...keysOf(after)]);
  const isList = Array.isArray(before);
  const found: Pair[] = [];
  for (const key of keys) {
    const pair = { before: own(before, key), after: own(after, key) };
    if (!isSame(pair.before, pair.after))
      found.push({ path: childPath(path, key, isList), ...pair });
  }
  return found;
}

function keysOf(value: unknown): string[] {
  return isBranch(value) ? Object.keys(value) : [];
}

function own(value: unknown, key: string): unknown {
  return isBranch(value) && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function childPath(path: string, key: string, isList: boolean): string {
  if (path.length > LONGEST_PATH) return path;
  const name = legible(key, 80);
  if (isList) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}

function toChange({ path, before, after }: Pair, max: number): FieldChange {
  if (typeof before === "string" && typeof after === "string") {
    return { path, ...excerpt(before, after, max) };
  }
  return {
    path,
    ...(before !== undefined && { before: show(before, max) }),
    ...(after !== undefined && { after: show(after, max) }),
  };
}

function show(value: unknown, max: number): string {
  if (typeof value === "string") return legible(value, max);
  return legible(isJsonObject(value) || Array.isArray(value) ? toJson(value) : String(value), max);
}

/** Deeper than any list of tools may be, JSON.stringify gives up. */
function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deep to be shown)";
  }
}
