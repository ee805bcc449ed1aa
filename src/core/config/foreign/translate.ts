// Finds out which application a file belongs to, and says the same in our keys.

import { basename, dirname } from "node:path";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { GUARD_KEYS, ROOT_KEYS } from "../schema/file-schema.ts";
import type { Application, FileContext } from "./application.ts";
import { APPLICATIONS } from "./applications.ts";
import { Draft } from "./draft.ts";

/** Keys of our own file that others have, too. */
const SHARED = new Set(["$schema", "mcpServers", "servers"]);

export interface Translated {
  application: Application;
  /** Only the block with the servers tells which application the file belongs to. */
  isGuess: boolean;
  draft: Draft;
}

/** Undefined for a file that is ours, or nobody's. */
export function translate(
  value: unknown,
  around: Omit<FileContext, "folder">,
): Translated | undefined {
  if (!isJsonObject(value)) return undefined;
  const { application, isGuess } = findApplication(value, around.file);
  if (application === undefined) return undefined;
  const whole: FileContext = { ...around, folder: projectOf(around) };
  const draft = new Draft(whole);
  application.translate(value, draft, whole);
  return { application, isGuess, draft };
}

export function applicationNames(): string[] {
  return APPLICATIONS.map(({ name }) => name);
}

/** By what only one application writes, else by the place of the file, else by the block that has the servers. */
function findApplication(
  value: JsonObject,
  file: string | undefined,
): { application: Application | undefined; isGuess: boolean } {
  const recognised = APPLICATIONS.find(({ recognise }) => recognise(value));
  if (recognised !== undefined || isOurs(value)) return { application: recognised, isGuess: false };
  const fitting = APPLICATIONS.filter(
    ({ block }) => block !== undefined && isJsonObject(value[block]),
  );
  const path = file?.replaceAll("\\", "/");
  const placed = fitting.find(({ pathEnd }) => path !== undefined && pathEnd?.test(path));
  // Another application's keys are ignored, and a guard that is ignored protects nobody: as ours, the file is refused.
  if (placed === undefined && Object.keys(value).some((key) => GUARD_KEYS.has(key)))
    return { application: undefined, isGuess: false };
  return { application: placed ?? fitting.at(-1), isGuess: placed === undefined };
}

/** Ours under another name: nothing but our blocks, and more than the short form that others have too. */
function isOurs(value: JsonObject): boolean {
  const keys = Object.keys(value);
  return keys.some((key) => !SHARED.has(key)) && keys.every((key) => ROOT_KEYS.has(key));
}

/** The directory above one such as `.vscode`, in which editors keep the files of a project. */
function projectOf({ file, cwd }: Omit<FileContext, "folder">): string {
  if (file === undefined) return cwd;
  const directory = dirname(file);
  return /^\.[a-z]+$/.test(basename(directory)) ? dirname(directory) : directory;
}
