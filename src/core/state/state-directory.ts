// Checks that nobody else can write where Plugboard keeps what it relies on: trust, approvals, pins and tokens. It looks
// synchronously: every command waits for it, and handing each file to another thread takes ten times as long.

import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { PlugboardError } from "../types/errors.ts";
import type { Environment } from "../../util/environment.ts";
import { namesIn } from "../../util/names-in.ts";
import { shellQuoted } from "../../util/text.ts";

const GROUP_WRITE = 0o020;
const WORLD_WRITE = 0o002;

/** Set it to 1 where an orchestrator gives a volume its owner and group, such as `fsGroup` in Kubernetes. */
const SHARED = "PLUGBOARD_SHARED_HOME";

/** The files and directories in it that decide what may run, and as whom. */
const DECIDING_FILES = ["trust.json", "approvals.json", "model-keys.json"];
const DECIDING_DIRECTORIES = ["pins", "pinned", "auth", "gateway", "bundles", "undo"];

/**
 * Throws CONFIG_INVALID if somebody else owns the directory or a file in it that decides what may run, or can write to
 * it. What is not there yet passes: it is made for its owner alone.
 */
export function checkStateDirectory(directory: string, env: Environment): void {
  for (const path of decidingPaths(directory)) check(path, directory, env);
}

/** The directory, and what in it decides what may run. Not all of it need be there. */
export function decidingPaths(directory: string): string[] {
  const inside = DECIDING_DIRECTORIES.map((name) => join(directory, name));
  const files = inside.flatMap((each) =>
    namesIn(each)
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(each, name)),
  );
  const named = DECIDING_FILES.map((name) => join(directory, name));
  return [directory, ...named, ...inside, ...files];
}

/** Undefined if it is not there, or cannot be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function check(path: string, directory: string, env: Environment): void {
  const writers = otherWriters(path, env);
  if (writers === undefined) return;
  const isInside = path !== directory;
  const remedy = isInside ? wholeRemedy(writers, directory) : writers.remedy;
  const override =
    writers.kind !== "world"
      ? `\nif an orchestrator gives the volume its owner and group, set ${SHARED}=1`
      : env[SHARED] === "1"
        ? `\n${SHARED}=1 only accepts that its owner and its group can write to it`
        : "";
  throw new PlugboardError(
    "CONFIG_INVALID",
    writers.kind === "owner"
      ? `${path} belongs to another user (uid ${writers.uid}), who could change what Plugboard trusts`
      : `other users can write to ${path}, and so change what Plugboard trusts`,
    { hint: `run: ${remedy}${override}` },
  );
}

/** Where one file in it is wrong, others may be too. */
function wholeRemedy({ kind }: OtherWriters, directory: string): string {
  const where = shellQuoted(directory);
  return kind === "owner" ? `chown -R ${process.geteuid?.()} ${where}` : `chmod -R go-w ${where}`;
}

/** For commands, which keep everything there: like `checkStateDirectory`, and it must be a directory if it exists. */
export function checkHome(path: string, env: Environment): void {
  const found = statOf(path);
  if (found !== undefined && !found.isDirectory()) {
    throw new PlugboardError("CONFIG_INVALID", `${path} is not a directory`, {
      hint: "Plugboard keeps its files there: set PLUGBOARD_HOME to a directory",
    });
  }
  checkStateDirectory(path, env);
}

/** Which other users may write a file or directory, and the command that takes this right from them. */
export type OtherWriters = { remedy: string } & (
  | { kind: "owner"; uid: number }
  | { kind: "group" }
  | { kind: "world" }
);

/** Undefined if nobody else may write it. */
export function otherWriters(path: string, env: Environment): OtherWriters | undefined {
  const own = process.geteuid?.();
  const found = statOf(path);
  // Windows has neither owners nor modes of this kind.
  if (found === undefined || own === undefined) return undefined;
  const { uid, mode } = found;
  const isShared = env[SHARED] === "1";
  const remedy = (change: string): string => `${change} ${shellQuoted(path)}`;
  if ((mode & WORLD_WRITE) !== 0) {
    return { kind: "world", remedy: remedy(isShared ? "chmod o-w" : "chmod go-w") };
  }
  if (isShared) return undefined;
  // Root can write everything anyway.
  if (uid !== own && uid !== 0) return { kind: "owner", uid, remedy: remedy(`chown -R ${own}`) };
  return (mode & GROUP_WRITE) === 0 ? undefined : { kind: "group", remedy: remedy("chmod go-w") };
}
