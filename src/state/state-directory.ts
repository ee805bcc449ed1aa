// Checks that nobody else can write where Plugboard keeps what it relies on: trust, approvals, pins and tokens.

import { stat } from "node:fs/promises";
import { PlugboardError } from "../model/errors.ts";
import type { Environment } from "../util/environment.ts";

const GROUP_WRITE = 0o020;
const WORLD_WRITE = 0o002;

/** Set it to 1 where an orchestrator gives a volume its owner and group, such as `fsGroup` in Kubernetes. */
const SHARED = "PLUGBOARD_SHARED_HOME";

/**
 * Throws CONFIG_INVALID if somebody else owns the directory or can write to it. A directory that is not there yet
 * passes: it is made with mode 0700.
 */
export async function checkStateDirectory(path: string, env: Environment): Promise<void> {
  const writers = await otherWriters(path, env);
  if (writers === undefined) return;
  const remedy =
    writers.kind === "owner" ? `chown -R ${process.geteuid?.()} ${path}` : `chmod go-w ${path}`;
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
