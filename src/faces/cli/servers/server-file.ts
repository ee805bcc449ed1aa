// The file that a command changes: which one it is, what it has, and how it is written back with its trust.

import { join, resolve } from "node:path";
import { type ConfigSource, FILE_NAME } from "../../../config/find.ts";
import { plugboardHome } from "../../../config/home.ts";
import { loadConfig } from "../../../config/load.ts";
import {
  readServerText,
  type ServerText,
  writtenServer,
  writtenServers,
} from "../../../config/server-text.ts";
import { type WriteOptions, writeTextFile } from "../../../config/text/text-file.ts";
import type { Launch } from "../../../config/trust/trust.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError, unknownServer } from "../../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import { shellQuoted } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { offeredCommand } from "../offered-command.ts";
import { findSource } from "../open.ts";
import { needsTrust } from "../trust/needs-trust.ts";
import { judgeFile } from "../trust/require-trust.ts";
import type { Scope } from "./command.ts";

type FileSource = Extract<ConfigSource, { kind: "file" }>;

export interface ServerFile extends ServerText {
  path: string;
  trust: TrustBefore;
  source: FileSource;
}

/** What trust there was before the change. */
type TrustBefore =
  /** Nothing in it needs anybody's approval. */
  | { kind: "unneeded" }
  /** There was no file, or it was trusted: then it is trusted after the change too. */
  | { kind: "renewed"; launches: readonly Launch[] }
  | { kind: "untrusted" };

/** A file may hold credentials. One in a project is for everybody who has the project. */
const OWN_MODE = 0o600;

/** Where a command writes, whether the file exists or not. */
export function fileSource(scope: Scope | undefined, context: CliContext): FileSource {
  const { io, options } = context;
  const { cwd, env, homedir } = io;
  const own = join(plugboardHome(env, homedir), FILE_NAME);
  const local = join(resolve(cwd), FILE_NAME);
  if (scope !== undefined && options.config !== undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", "--scope and --config both name a file", {
      hint: "give one of them",
    });
  }
  if (scope === "user" || (scope === "project" && local === own)) {
    return { kind: "file", path: own, from: "home" };
  }
  if (scope === "project") return { kind: "file", path: local, from: "directory" };
  // Unlike other commands, these can make a file that was named.
  const [named, from] = options.config
    ? [options.config, "flag" as const]
    : [env["PLUGBOARD_CONFIG"], "environment" as const];
  if (named) return { kind: "file", path: resolve(cwd, named), from };
  const source = findSource(context);
  return source.kind === "file" ? source : { kind: "file", path: own, from: "home" };
}

/** Rejects with CONFIG_INVALID for a file that is there and is not valid. */
export async function openServerFile(
  scope: Scope | undefined,
  context: CliContext,
): Promise<ServerFile> {
  const source = fileSource(scope, context);
  const { path } = source;
  const text = await readServerText(path, context.options.agent, context.io);
  return { ...text, path, source, trust: await trustBefore(source, text, context) };
}

async function trustBefore(
  source: FileSource,
  { original }: ServerText,
  { io }: CliContext,
): Promise<TrustBefore> {
  const { path } = source;
  const isNew = original.text === undefined;
  // Later it may be found here, and not named.
  const isFoundHere = path === join(resolve(io.cwd), FILE_NAME) && source.from !== "home";
  if (isNew) return isFoundHere ? { kind: "renewed", launches: [] } : { kind: "unneeded" };
  const { store, launches, trust } = await judgeFile(path, io);
  const isNeeded = isFoundHere || needsTrust(source, io);
  if (!isNeeded && (await store.find(path)) === undefined) return { kind: "unneeded" };
  return trust.kind === "trusted"
    ? { kind: "renewed", launches: launches.all }
    : { kind: "untrusted" };
}

/**
 * The settings of the file, such as which networks are allowed; undefined where there is no file, or nobody has trusted
 * it.
 */
export async function trustedSettings(
  { original, path, trust }: ServerFile,
  { io, options }: CliContext,
): Promise<AgentConfig | undefined> {
  if (original.text === undefined || trust.kind === "untrusted") return undefined;
  const { cwd, homedir } = io;
  return loadConfig(path, options.agent, { cwd, homedir });
}

/** Writes the new text. True if what these servers start is trusted now, or needs no trust. */
export async function writeServerFile(
  file: ServerFile,
  text: string,
  names: readonly string[],
  { io, clock }: CliContext,
): Promise<boolean> {
  const { path, source, trust, original } = file;
  await writeTextFile(original, text, modeOf(source));
  if (trust.kind !== "renewed") return trust.kind === "unneeded";
  const { store, launches } = await judgeFile(path, io);
  // Somebody else may have written to it since.
  if (!isOnlyChange(trust.launches, launches.all, names)) return false;
  await store.approve(path, launches.all, clock.now());
  return true;
}

export function modeOf({ from }: FileSource): WriteOptions {
  return from === "home" ? { mode: OWN_MODE } : {};
}

function isOnlyChange(
  before: readonly Launch[],
  after: readonly Launch[],
  names: readonly string[],
): boolean {
  const known = new Map(before.map(({ label, hash }) => [label, hash]));
  return after.every(
    ({ kind, label, hash, name: own }) =>
      known.get(label) === hash ||
      (kind === "server" && names.includes(own.split("/").at(-1) ?? "")),
  );
}

/** The lines that tell about a file that is not trusted. */
export function untrustedLines({ path }: ServerFile, { options }: CliContext): string[] {
  return [
    `${visible(path)} is not trusted, so nothing in it starts; to see what it holds, and to trust it, run in its directory:`,
    `  ${offeredCommand("trust", { config: options.config })}`,
  ];
}

export interface FoundServer {
  file: ServerFile;
  /** As the agent has it. */
  server: JsonObject;
}

/**
 * Looks in the file that is in use and then, where nobody has named one, in the other. Rejects with UNKNOWN_SERVER, with
 * the closest name.
 */
export async function findServer(
  name: string,
  scope: Scope | undefined,
  context: CliContext,
): Promise<FoundServer> {
  const file = await openServerFile(scope, context);
  const found = serverIn(name, file) ?? (await foundElsewhere(name, file, scope, context));
  if (found !== undefined) return found;
  const names = [...Object.keys(writtenServers(file)), ...Object.keys(file.inherited)];
  const { message, hint } = unknownServer(name, names);
  throw new PlugboardError("UNKNOWN_SERVER", `${message} in ${visible(file.path)}`, {
    server: name,
    hint,
  });
}

function serverIn(name: string, file: ServerFile): FoundServer | undefined {
  const own = writtenServer(file, name);
  const base = Object.hasOwn(file.inherited, name) ? file.inherited[name] : undefined;
  if (own === undefined && base === undefined) return undefined;
  return { file, server: { ...(isJsonObject(base) && base), ...(isJsonObject(own) && own) } };
}

async function foundElsewhere(
  name: string,
  file: ServerFile,
  scope: Scope | undefined,
  context: CliContext,
): Promise<FoundServer | undefined> {
  const others = await otherFiles(file, scope, context);
  return others.map((each) => serverIn(name, each)).find((found) => found !== undefined);
}

/** Where nobody has named a file: those of the project and of the user, without the one that is in use. */
export async function otherFiles(
  { path, source }: ServerFile,
  scope: Scope | undefined,
  context: CliContext,
): Promise<ServerFile[]> {
  const isNamed = source.from === "flag" || source.from === "environment";
  if (scope !== undefined || isNamed || context.options.agent !== undefined) return [];
  const scopes = (["project", "user"] as const).filter(
    (other) => fileSource(other, context).path !== path,
  );
  // One that is not valid is not the one that was asked for.
  const files = await Promise.all(
    scopes.map((other) => openServerFile(other, context).catch(() => undefined)),
  );
  return files.filter((file) => file !== undefined);
}

/** A command that is about a server of this file. */
export function commandFor(words: string, name: string, { options }: CliContext): string {
  return offeredCommand(`${words} ${shellQuoted(name)}`, options);
}
