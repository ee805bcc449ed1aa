// The record of a change to an application's file, so that the change can be taken back byte for byte.

import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { KeyPath } from "../../core/config/issue.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { TextFile } from "../../core/config/text/text-file.ts";
import { readJsonFile, writeJsonFile } from "../../core/state/json-file.ts";
import { shortHash } from "../../util/short-hash.ts";
import { type Splice, takeBack } from "./entry-text.ts";

export interface ConnectRecord {
  file: string;
  /** The hash of the text before the change; undefined where there was no file. */
  before: string | undefined;
  /** The hash of the text after the change. */
  after: string;
  splices: Splice[];
  /** The places of the entries, in the order of the splices. */
  paths: KeyPath[];
  /** The places of the objects that were made to hold the entries, the innermost first. */
  made?: KeyPath[];
  /** The places of the application's own servers that were moved onto the board. */
  moved?: KeyPath[];
  /** Directories that were made for it, the outermost first. */
  directories: string[];
}

const MOST_BYTES = 16 * 1024 * 1024;

/** `home` is Plugboard's. One record for each file. */
function recordPath(home: string, file: string): string {
  return join(home, "connect", `${shortHash(file)}.json`);
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function readRecord(home: string, file: string): Promise<ConnectRecord | undefined> {
  const value = await readJsonFile(recordPath(home, file), MOST_BYTES);
  if (!isJsonObject(value)) return undefined;
  const { before, after, splices, directories, paths, made = [], moved = [] } = value;
  const isWhole =
    value["file"] === file &&
    (before === undefined || typeof before === "string") &&
    typeof after === "string" &&
    Array.isArray(splices) &&
    splices.every(isSplice) &&
    Array.isArray(paths) &&
    paths.every((path) => Array.isArray(path)) &&
    Array.isArray(made) &&
    made.every((path) => Array.isArray(path)) &&
    Array.isArray(moved) &&
    moved.every((path) => Array.isArray(path)) &&
    Array.isArray(directories) &&
    directories.every((each) => typeof each === "string");
  return isWhole
    ? {
        file,
        before,
        after,
        splices,
        directories,
        paths: paths as KeyPath[],
        made: made as KeyPath[],
        moved: moved as KeyPath[],
      }
    : undefined;
}

export async function writeRecord(home: string, record: ConnectRecord): Promise<void> {
  await writeJsonFile(recordPath(home, record.file), record);
}

export async function removeRecord(home: string, file: string): Promise<void> {
  await rm(recordPath(home, file), { force: true });
}

function isSplice(value: unknown): value is Splice {
  return (
    isJsonObject(value) &&
    Number.isInteger(value["start"]) &&
    typeof value["removed"] === "string" &&
    typeof value["added"] === "string"
  );
}

export interface Before {
  /** Undefined where there is no file. */
  text: string | undefined;
  /** The changes that made the present file of `text`; empty where nobody knows. */
  splices: readonly Splice[];
  /** The places of our entries in the file, in the order of the splices. */
  paths: readonly KeyPath[];
  /** The places of the objects that were made to hold our entries, the innermost first. */
  made: readonly KeyPath[];
  /** The places of servers that were moved onto the board. */
  moved: readonly KeyPath[];
  /** Directories that were made for the file. Undefined where nobody knows the file as it was before. */
  directories?: string[];
}

/** The file before it was connected, where that is known; else the file as it is now. */
export async function readBefore({ target, text }: TextFile, home: string): Promise<Before> {
  const record = await readRecord(home, target);
  const { made = [], moved = [] } = record ?? {};
  const unknown: Before = { text, splices: [], paths: [], made, moved };
  if (record === undefined || text === undefined || hashOf(text) !== record.after) return unknown;
  const { splices, paths, directories } = record;
  const before = takeBack(text, splices);
  if (before === undefined) return unknown;
  const known = { splices, paths, made, moved, directories };
  if (record.before === undefined) return { text: undefined, ...known };
  return hashOf(before) === record.before ? { text: before, ...known } : unknown;
}
