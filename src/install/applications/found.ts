// An application on this machine: its file, whether it is installed, and whether the board is in it.

import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { formatProblem } from "../../core/config/issue.ts";
import { readTextFile, type TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { valueIn } from "../../core/types/json.ts";
import { pathExists } from "../../util/path-exists.ts";
import type { Environment } from "../../util/environment.ts";
import { commandOf, type ConnectedApplication, type Entry, isOurs } from "./applications.ts";
import { readValue } from "./entry-text.ts";

/** Where the files of applications are looked for. */
interface UserPlace {
  env: Environment;
  cwd: string;
  homedir: string;
}

/** Whether the board is in the application's file. */
export type ConnectState =
  | { kind: "absent" }
  /** `missing` is a program or file of the entry that is no longer there. */
  | { kind: "connected"; as: ("server" | "agent")[]; missing?: string }
  /** The file cannot be read. */
  | { kind: "unknown"; problem: string };

export interface FoundApplication {
  application: ConnectedApplication;
  isInstalled: boolean;
  path: string;
  state: ConnectState;
}

/** The file that is changed: the one that was named, or the application's own. */
export async function fileOf(
  application: ConnectedApplication,
  named: string | undefined,
  io: UserPlace,
): Promise<string> {
  return named === undefined ? ownFileOf(application, io) : resolve(io.cwd, named);
}

/** The first that is there, else the first whose directory is, else the first. */
async function ownFileOf(application: ConnectedApplication, io: UserPlace): Promise<string> {
  const files = application.files(aroundOf(io));
  const first = files[0] ?? "";
  for (const file of files) if (await pathExists(file)) return file;
  for (const file of files) if (await pathExists(dirname(file))) return file;
  return first;
}

export async function findApplication(
  application: ConnectedApplication,
  io: UserPlace,
): Promise<FoundApplication> {
  const path = await ownFileOf(application, io);
  return {
    application,
    path,
    isInstalled: await isInstalled(application, io),
    state: await stateIn(application, path),
  };
}

/** For looking at the places of applications. */
function aroundOf({ env, cwd, homedir }: UserPlace): {
  env: UserPlace["env"];
  cwd: string;
  homedir: string;
  platform: NodeJS.Platform;
} {
  return { env, cwd: resolve(cwd), homedir, platform: process.platform };
}

/** How the file of a program may end, on any system. */
const ENDINGS = ["", ".cmd", ".exe"];

async function isInstalled(application: ConnectedApplication, io: UserPlace): Promise<boolean> {
  const around = aroundOf(io);
  const files = application.files(around);
  const marks = application.marks?.(around) ?? files.map((file) => dirname(file));
  const programs = (io.env["PATH"] ?? "")
    .split(delimiter)
    .filter(Boolean)
    .flatMap((directory) =>
      application.programs.flatMap((name) => ENDINGS.map((end) => join(directory, name + end))),
    );
  const found = await Promise.all([...files, ...marks, ...programs].map(pathExists));
  return found.includes(true);
}

async function stateIn(application: ConnectedApplication, path: string): Promise<ConnectState> {
  try {
    const value = valueOf(application, await readTextFile(path));
    const ours = ourEntries(application, value);
    if (ours.length === 0) return { kind: "absent" };
    const files = ours.flatMap((entry) => (commandOf(entry.value) ?? []).slice(0, 2));
    const missing = await firstMissing(files.filter((file) => isAbsolute(file)));
    return {
      kind: "connected",
      as: [...new Set(ours.map((entry) => entry.as))],
      ...(missing !== undefined && { missing }),
    };
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const problem = error.problems.map(formatProblem).join("; ") || error.message;
    return { kind: "unknown", problem };
  }
}

/** The entries that start a board, as the file has them. */
export function ourEntries(application: ConnectedApplication, value: unknown): Entry[] {
  if (application.own !== undefined) return application.own(value);
  const start = { command: "", args: [], env: {}, variables: [] };
  return application.entries(start, value).flatMap((entry) => {
    const written = valueIn(value, entry.path);
    return isOurs(written) ? [{ ...entry, value: written }] : [];
  });
}

/** Throws CONFIG_INVALID. */
export function valueOf(
  { syntax }: Pick<ConnectedApplication, "syntax">,
  { file, text = "" }: TextFile,
): unknown {
  return text.trim() === "" ? undefined : readValue(syntax, text, file);
}

async function firstMissing(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if (!(await pathExists(file))) return file;
  return undefined;
}
