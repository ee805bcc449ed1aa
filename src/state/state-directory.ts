// Checks that nobody else can write where Plugboard keeps what it relies on: trust, approvals, pins and tokens.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { PlugboardError } from "../model/errors.ts";
import type { Environment } from "../util/environment.ts";
import { shellQuoted } from "../util/text.ts";

const GROUP_WRITE = 0o020;
const WORLD_WRITE = 0o002;

/** Set it to 1 where an orchestrator gives a volume its owner and group, such as `fsGroup` in Kubernetes. */
const SHARED = "PLUGBOARD_SHARED_HOME";

/** The files and directories in it that decide what may run, and as whom. */
const DECIDING_FILES = ["trust.json", "approvals.json"];
const DECIDING_DIRECTORIES = ["pins", "pinned", "auth"];

/**
 * Throws CONFIG_INVALID if somebody else owns the directory or a file in it that decides what may run, or can write to
 * it. What is not there yet passes: it is made for its owner alone.
 */
export async function checkStateDirectory(directory: string, env: Environment): Promise<void> {
  await check(directory, directory, env);
  const inside = DECIDING_DIRECTORIES.map((name) => join(directory, name));
  const files = await Promise.all(
    inside.map(async (each) => {
      const names = await readdir(each).catch(() => []);
      return names.filter((name) => name.endsWith(".json")).map((name) => join(each, name));
    }),
  );
  const named = DECIDING_FILES.map((name) => join(directory, name));
  await Promise.all(
    [...named, ...inside, ...files.flat()].map((path) => check(path, directory, env)),
  );
}

async function check(path: string, directory: string, env: Environment): Promise<void> {
  const writers = await otherWriters(path, env);
  if (writers === undefined) return;
  const isInside = path === directory ? "" : "-R ";
  const remedy =
    writers.kind === "owner"
      ? `chown -R ${process.geteuid?.()} ${shellQuoted(directory)}`
      : `chmod ${isInside}go-w ${shellQuoted(directory)}`;
  const override = `if an orchestrator gives the volume its owner and group, set ${SHARED}=1`;
  throw new PlugboardError(
    "CONFIG_INVALID",
    writers.kind === "owner"
      ? `${path} belongs to another user (uid ${writers.uid}), who could change what Plugboard trusts`
      : `other users can write to ${path}, and so change what Plugboard trusts`,
    { hint: writers.kind === "world" ? `run: ${remedy}` : `run: ${remedy}\n${override}` },
  );
}

/** Whether somebody else may have written the file. */
export async function isWritableByOthers(file: string, env: Environment): Promise<boolean> {
  return (await otherWriters(file, env)) !== undefined;
}

type OtherWriters = { kind: "owner"; uid: number } | { kind: "group" } | { kind: "world" };

async function otherWriters(path: string, env: Environment): Promise<OtherWriters | undefined> {
  const own = process.geteuid?.();
  const found = await stat(path).catch(() => undefined);
  // Windows has neither owners nor modes of this kind.
  if (found === undefined || own === undefined) return undefined;
  const { uid, mode } = found;
  if ((mode & WORLD_WRITE) !== 0) return { kind: "world" };
  if (env[SHARED] === "1") return undefined;
  // Root can write everything anyway.
  if (uid !== own && uid !== 0) return { kind: "owner", uid };
  return (mode & GROUP_WRITE) === 0 ? undefined : { kind: "group" };
}
