// What it takes to read another application's file: to know it by its content, and to say the same in our keys.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Draft } from "./draft.ts";

/** Where a file lies, and for whom it is read. */
export interface FileContext {
  /** Absent for a configuration that was written in code. */
  file?: string;
  /** The project that the file belongs to: the directory above `.vscode`, `.cursor` and the like. */
  folder: string;
  /** The directory that the caller works in. */
  cwd: string;
  platform: NodeJS.Platform;
  /** Only the block with the servers tells whose it is: it may be ours under another name. */
  isGuess?: true;
  /** What the application has at the root, for a file that is not at its own place. Absent where it has too much to list. */
  known?: { keys: readonly string[]; name: string };
}

export interface Application {
  id: string;
  /** As people call it. */
  name: string;
  /** Whether a file with this content can be of no other application. */
  recognise: (value: JsonObject) => boolean;
  /** Where it has its servers, if other applications have theirs there too. */
  block?: "mcpServers" | "servers";
  /** How the path of its file ends, with forward slashes. It decides where the content fits several applications. */
  pathEnd?: RegExp;
  /** Blocks that our own file has too, each with the keys of ours that the application has in it. */
  shares?: Readonly<Record<string, readonly string[]>>;
  /** What its file has at the root, beside the servers. Absent for a file with all settings of the application. */
  keys?: readonly string[];
  translate: (value: JsonObject, draft: Draft, around: FileContext) => void;
}

/** The servers of an object that has them by name; none for anything else. */
export function entries(servers: unknown): JsonObject[] {
  return isJsonObject(servers) ? Object.values(servers).filter(isJsonObject) : [];
}

/** Whether a server has one of these keys. */
export function someHas(servers: unknown, keys: readonly string[]): boolean {
  return entries(servers).some((server) => keys.some((key) => Object.hasOwn(server, key)));
}

/** Whether a text anywhere in the value matches. */
export function mentions(value: unknown, pattern: RegExp): boolean {
  if (typeof value === "string") return pattern.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => mentions(each, pattern));
}
