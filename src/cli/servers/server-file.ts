// The file that a command changes: which one it is, what it has, and how it is written back with its trust.

import { existsSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  FILE_NAME,
  filesOf,
  type FileSource,
  ownFile,
  placeOf,
  withBase,
} from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { agentIdsIn, loadConfig } from "../../core/config/load.ts";
import {
  readServerText,
  type ServerText,
  writtenServer,
  writtenServers,
} from "../../core/config/server-text.ts";
import { setValue } from "../../core/config/text/edit.ts";
import {
  readTextFile,
  type WriteOptions,
  writeTextFile,
} from "../../core/config/text/text-file.ts";
import { changesSettings, type Launch } from "../../core/config/trust/trust.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { PlugboardError, unknownServer } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import { withLock } from "../../core/state/lock.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { shortHash } from "../../util/short-hash.ts";
import { oneLine, shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { offeredCommand } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import type { SecretSettingsOf } from "../store-secret.ts";
import { needsTrust } from "../trust/needs-trust.ts";
import { judgeFile } from "../trust/judge-file.ts";
import { keepChange } from "./keep-change.ts";
import type { Scope } from "./command.ts";
import { editorSchema, renewEditorSchema } from "./editor-schema.ts";

export interface ServerFile extends ServerText {
  path: string;
  trust: TrustBefore;
  source: FileSource;
}

/** The trust of the file before the change. */
type TrustBefore =
  /** Nothing in it needs anybody's approval. */
  | { kind: "unneeded" }
  /**
   * There was no file, or it was trusted but for servers that have changed since: then what the command changes is trusted
   * too, and those servers go on waiting.
   */
  | { kind: "renewed"; launches: readonly Launch[]; waiting: ReadonlySet<string> }
  | { kind: "untrusted" };

/** A file may hold credentials. One in a project is for everybody who has the project. */
const OWN_MODE = 0o600;

/** Where a command writes, whether the file exists or not. */
export function fileSource(scope: Scope | undefined, context: CliContext): FileSource {
  const { io, options } = context;
  const { cwd, env, homedir } = io;
  const own = ownFile(env, homedir);
  const local = join(resolve(cwd), FILE_NAME);
  if (scope !== undefined && options.config !== undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", "--scope and --config both name a file", {
      hint: "give one of them",
    });
  }
  const isOwn = placeOf(local) === placeOf(own);
  if (scope === "user" || scope === "local" || (scope === "project" && isOwn)) {
    return { kind: "file", path: own, from: "home" };
  }
  if (scope === "project") return withBase({ kind: "file", path: local, from: "directory" }, io);
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
  const source = await withAgent(fileSource(scope, context), scope, context);
  const { path } = source;
  await requireNoDanglingLink(source);
  const text = await readServerText(path, context.options.agent, context.io);
  return { ...text, path, source, trust: await trustBefore(source, text, context) };
}

/**
 * Whoever made the directory chose where a link in it leads, so no file is made there. Rejects with CONFIG_INVALID.
 */
export async function requireNoDanglingLink({ path, from }: FileSource): Promise<void> {
  if (from !== "directory") return;
  const to = await readlink(path).catch(() => undefined);
  if (to === undefined || existsSync(path)) return;
  const message = `${visible(path)} is a link to ${visible(to)}, where there is no file, so nothing is written`;
  throw new PlugboardError("CONFIG_INVALID", message, {
    hint: `remove the link: rm ${shellQuoted(path)}, or make the file that it leads to`,
  });
}

/** Where nobody says which file, it is the one that has the agent: the project's, or else the one beneath. */
async function withAgent(
  source: FileSource,
  scope: Scope | undefined,
  { io, options: { agent } }: CliContext,
): Promise<FileSource> {
  if (scope !== undefined || agent === undefined || agent === DEFAULT_AGENT) return source;
  for (const file of filesOf(source).toReversed()) {
    if ((await agentIdsIn(file.path, io)).includes(agent))
      return file.path === source.path ? source : file;
  }
  return source;
}

async function trustBefore(
  source: FileSource,
  { original }: ServerText,
  { io }: CliContext,
): Promise<TrustBefore> {
  const { path } = source;
  // Later it may be found here, and not named. Your own file is found as yours, wherever you are.
  const isOwn = placeOf(path) === placeOf(ownFile(io.env, io.homedir));
  const isFoundHere = path === join(resolve(io.cwd), FILE_NAME) && !isOwn;
  if (original.text === undefined) {
    return isFoundHere
      ? { kind: "renewed", launches: [], waiting: new Set() }
      : { kind: "unneeded" };
  }
  const found = isFoundHere ? withBase({ ...source, from: "directory" }, io) : source;
  const { launches, trust, record } = await judgeFile(found, io, withoutMark(original.text));
  const isNeeded = isFoundHere || needsTrust(source, io);
  if (!isNeeded && record === undefined) return { kind: "unneeded" };
  if (changesSettings(trust)) return { kind: "untrusted" };
  const labels =
    trust.kind === "changed" ? [...trust.added, ...trust.changed, ...trust.removed] : [];
  return { kind: "renewed", launches: launches.all, waiting: new Set(labels) };
}

/**
 * The settings of the file, such as which networks are allowed; undefined where there is no file, or nobody has trusted
 * it.
 */
export async function trustedSettings(
  { original, path, trust, source }: ServerFile,
  { io, options }: CliContext,
): Promise<AgentConfig | undefined> {
  // Naming a file is an approval of it.
  const isApproved = trust.kind !== "untrusted" || !needsTrust(source, io);
  if (original.text === undefined || !isApproved) return undefined;
  const { cwd, homedir } = io;
  return loadConfig(path, options.agent, { cwd, homedir, base: source.base });
}

/**
 * The settings of the file that say where secrets are kept. They decide where a value is sent, so it rejects with
 * UNTRUSTED if nobody has trusted the file.
 */
export async function secretSettings(
  file: ServerFile,
  context: CliContext,
): Promise<SecretSettingsOf> {
  const settings = await trustedSettings(file, context);
  if (settings !== undefined || file.original.text === undefined) return settings ?? {};
  throw new PlugboardError(
    "UNTRUSTED",
    `${visible(file.path)} is not trusted, and a configuration decides where secrets are kept, so nothing was put there`,
    {
      hint: `to see what it holds, and to trust it, run in its directory:\n  ${offeredCommand("trust", { config: context.options.config })}`,
    },
  );
}

export interface FileChange {
  /** The servers that it is about. */
  names: readonly string[];
  /** For the list of `plugboard undo`: `remove docs`. Absent for a change that is not to be undone. */
  what?: string;
}

/**
 * Makes a change to these servers, in the file as it is by now: another command may have changed other servers since it
 * was read. True if what these servers start is trusted then, or needs no trust. Rejects with SYSTEM_ERROR if one of
 * these servers has changed since.
 */
export function changeServerFile(
  file: ServerFile,
  change: (servers: ServerText) => string,
  { names, what }: FileChange,
  context: CliContext,
): Promise<boolean> {
  const { io, clock, options } = context;
  const { path, source } = file;
  return alone(source, context, async () => {
    const text = await withEditorSchema(
      await readServerText(path, options.agent, io),
      source,
      context,
    );
    for (const name of names) requireSame(name, file, text);
    const trust = await trustBefore(source, text, context);
    const changed = change(text);
    await requireNotLooser(source, text.original.text, changed, io);
    await writeTextFile(text.original, changed, modeOf(source));
    const { text: replaced } = text.original;
    if (what !== undefined && changed !== replaced) {
      await keepChange({ what, file: path, before: replaced, after: changed }, context);
    }
    if (trust.kind !== "renewed") return trust.kind === "unneeded";
    // What this command has written, whatever is in the file by now: an editor does not wait for the lock.
    const { store, launches, record } = await judgeFile(source, io, withoutMark(changed));
    const isOfThese = ({ kind, name: own }: Launch): boolean =>
      kind === "server" && names.includes(own.split("/").at(-1) ?? "");
    const known = new Map(trust.launches.map(({ label, hash }) => [label, hash]));
    const isOnlyChange = launches.all.every(
      (each) => known.get(each.label) === each.hash || isOfThese(each),
    );
    // Nobody has looked at a server that waits, whatever else is changed in it.
    const waits = launches.all.some((each) => isOfThese(each) && trust.waiting.has(each.label));
    if (!isOnlyChange || waits) return false;
    const approved = launches.all.filter(({ label }) => !trust.waiting.has(label));
    const before = [...trust.waiting].flatMap((label) => {
      const hash = record?.approved.get(label);
      return hash === undefined ? [] : [{ label, hash }];
    });
    await store.approve(path, [...approved, ...before], clock.now());
    return true;
  });
}

/** Rejects with CONFIG_INVALID if the file beneath makes the changed file one that is refused, unless it was refused before. */
async function requireNotLooser(
  { path, base }: FileSource,
  before: string | undefined,
  changed: string,
  { cwd, homedir }: CliContext["io"],
): Promise<void> {
  if (base === undefined) return;
  const load = async (text: string): Promise<unknown> =>
    loadConfig(path, undefined, { cwd, homedir, base, text: withoutMark(text) });
  try {
    await load(changed);
  } catch (error) {
    const wasRefused = await load(before ?? "{}").then(
      () => false,
      () => true,
    );
    if (!wasRefused) throw error;
  }
}

/** Without the byte order mark, which a file keeps. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** A new file tells the editor what it may hold, unless that would name a place that only this user has. */
export async function withEditorSchema(
  text: ServerText,
  source: FileSource,
  context: CliContext,
): Promise<ServerText> {
  if (text.original.text !== undefined) {
    await renewEditorSchema(context);
    return text;
  }
  const schema = await editorSchema(source, context);
  return schema === undefined ? text : { ...text, text: setValue(text.text, ["$schema"], schema) };
}

/** No two commands write the same file at a time. */
export async function alone<Result>(
  { path }: FileSource,
  { io, clock }: CliContext,
  task: () => Promise<Result>,
): Promise<Result> {
  const { target } = await readTextFile(path);
  const lock = join(plugboardHome(io.env, io.homedir), "locks", `${shortHash(target)}.lock`);
  return withLock(lock, clock, task);
}

function requireSame(name: string, before: ServerText, now: ServerText): void {
  const [read, found] = [before, now].map((text) => canonicalJson(writtenServer(text, name)));
  if (read === found) return;
  throw new PlugboardError(
    "SYSTEM_ERROR",
    `${before.original.file} has another '${oneLine(name, 100)}' by now, so it was not written`,
    { server: name, hint: "try again" },
  );
}

export function modeOf({ from }: FileSource): WriteOptions {
  return from === "home" ? { mode: OWN_MODE } : {};
}

/** The lines that tell about a file that is not trusted. */
export function untrustedLines(
  { path, trust }: { path: string; trust: Pick<TrustBefore, "kind"> },
  { options }: CliContext,
): string[] {
  // Naming a file approves it for that command.
  const unless = options.config === undefined ? "" : " unless you name it";
  const why =
    trust.kind === "renewed"
      ? `has changed since it was trusted, so what is new in it does not start${unless}`
      : `is not trusted, so nothing in it starts${unless}`;
  return [
    `${visible(path)} ${why}; to see what it holds, and to trust it, run in its directory:`,
    `  ${offeredCommand("trust", { config: options.config })}`,
  ];
}

export interface FoundServer {
  file: ServerFile;
  /** As the agent has it. */
  server: JsonObject;
}

/**
 * Looks in the file that is in use and then, where nobody has named one, in the one beneath. Rejects with UNKNOWN_SERVER, with
 * the closest name.
 */
export async function findServer(
  name: string,
  scope: Scope | undefined,
  context: CliContext,
): Promise<FoundServer> {
  const file = await openServerFile(scope, context);
  const others = await otherFiles(file, scope, context);
  // A file that nobody has trusted hides no server of yours.
  const files = file.trust.kind === "untrusted" ? [...others, file] : [file, ...others];
  for (const each of files) {
    const found = serverIn(name, each);
    if (found !== undefined) return found;
  }
  const names = files.flatMap((each) => [
    ...Object.keys(writtenServers(each)),
    ...Object.keys(each.inherited),
  ]);
  const { message, hint } = unknownServer(name, [...new Set(names)]);
  const places = files.map(({ path }) => visible(path)).join(" or ");
  throw new PlugboardError("UNKNOWN_SERVER", `${message} in ${places}`, {
    server: name,
    hint,
  });
}

function serverIn(name: string, file: ServerFile): FoundServer | undefined {
  const own = writtenServer(file, name);
  const inherited = Object.hasOwn(file.inherited, name) ? file.inherited[name] : undefined;
  if (own === undefined && inherited === undefined) return undefined;
  return {
    file,
    server: { ...(isJsonObject(inherited) && inherited), ...(isJsonObject(own) && own) },
  };
}

/** The file beneath, unless somebody has said which file is meant. */
export async function otherFiles(
  { source }: ServerFile,
  scope: Scope | undefined,
  context: CliContext,
): Promise<ServerFile[]> {
  const { agent } = context.options;
  if (scope !== undefined || source.base === undefined || agent !== undefined) return [];
  return [await openServerFile("user", context)];
}

/** A command that is about a server of this file. */
export function commandFor(words: string, name: string, { options }: CliContext): string {
  return offeredCommand(`${words} ${shellQuoted(name)}`, options);
}

/** What the defaults have, all agents have: removing it there would not be about this agent. */
export function requireOwn(name: string, file: ServerText): void {
  if (writtenServer(file, name) !== undefined) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(name, 100)}' is in the defaults, which all agents have`,
    { server: name, hint: "disable it for this agent, or leave out --agent to remove it for all" },
  );
}
