// `plugboard connect`: puts the board into another application's own file.

import { isDeepStrictEqual } from "node:util";
import { isRemote } from "../../core/types/server-definition.ts";
import { type ConfigSource, filesOf } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { isBoard } from "../../core/config/own-server.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { readTextFile, type TextFile } from "../../core/config/text/text-file.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { valueIn } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { capitalised, oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand, offeredUndo } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import { withoutFile } from "../open.ts";
import { loadTrusted, type TrustedConfig } from "../trust/load-trusted.ts";
import {
  applicationOf,
  type ConnectedApplication,
  type Entry,
  type BoardStart,
} from "../../install/applications/applications.ts";
import { type Change, isChanged, makeChange, planChange } from "./change.ts";
import type { ConnectRequest, ConnectOptions } from "./command.ts";
import { disconnect } from "./disconnect.ts";
import { fileOf, ourEntries, valueOf } from "../../install/applications/found.ts";
import { boardStart } from "./board-start.ts";
import { listApplications } from "./list.ts";
import { importableFrom } from "../importable.ts";
import { moveServers, serversOf } from "./move.ts";

export async function runConnect(command: ConnectRequest, context: CliContext): Promise<number> {
  switch (command.action) {
    case "list":
      return listApplications(context);
    case "connect":
      return connect(command, applicationOf(command.application), context);
    case "undo":
      return disconnect(command, applicationOf(command.application), context);
  }
}

/** What connecting would do, and what a person should know before. */
interface PlannedConnection {
  change: Change;
  /** The board's own entries, as they would be. */
  entries: Entry[];
  /** Names of servers that would be there twice. */
  twice: string[];
  notes: string[];
  /** Names of servers that are on the board since they were moved, whatever becomes of the change. */
  added: string[];
}

/** Moves servers only where `command` says so or somebody may be asked; changes nothing else. */
export async function planConnection(
  command: Omit<ConnectOptions, "application">,
  application: ConnectedApplication,
  context: CliContext,
): Promise<PlannedConnection> {
  const { io } = context;
  const found = findSource(context);
  const load = async (): Promise<{ source: ConfigSource; agent: AgentConfig }> =>
    (await loadAlone(chosenFile(findSource(context), command), context)) ?? {
      source: found,
      agent: withoutFile(context, () => parseAgentConfig({ servers: {} })),
    };
  const loaded = await load();
  const file = await readTextFile(await fileOf(application, command.file, io));
  refuseBoardInBoard(loaded.source, loaded.agent, file, application);
  const value = valueOf(application, file);
  application.refuse?.(file, value);
  const present = ourEntries(application, value);
  const kept = application.kept?.(value) ?? [];
  const first = await boardStart(loaded.source, loaded.agent, context);
  const planned = entriesOf(application, command, first, value);
  refuseForeign(planned, present, value, file, application);
  const ours = [...present, ...planned];
  const move = { application, file, value, entries: ours, source: loaded.source };
  const { paths: moved, staying, added } = await moveServers(move, command, context);
  const { source, agent } = moved.length > 0 ? await load() : loaded;
  const start = moved.length > 0 ? await boardStart(source, agent, context) : first;
  const entries = (without: unknown): Entry[] => entriesOf(application, command, start, without);
  const change = await planChange({
    application,
    file,
    home: plugboardHome(io.env, io.homedir),
    present: present.filter(({ as }) => command.as === undefined || as === command.as),
    wanted: (without) => [...kept, ...entries(without)],
    moved: (before) => [...before, ...moved],
  });
  const isKept = ({ path }: Entry): boolean =>
    kept.some((other) => isDeepStrictEqual(other.path, path));
  const entriesNow = change.wanted.filter((entry) => !isKept(entry));
  if (!isChanged(change)) return { change, entries: entriesNow, twice: [], notes: [], added };
  const names = new Set(moved.map((path) => path.at(-1)));
  const twice = (await onBothSides(file, agent, context)).filter((name) => !names.has(name));
  const notes = [
    ...(await noServersNotes(source, agent, context)),
    ...startNotes(application, start),
    ...whichServers(application, found, source),
    ...(application.notes?.(value, agent) ?? []),
    ...twiceNotes(
      twice.filter((name) => !staying.includes(name)),
      application.name,
    ),
  ];
  return { change, entries: entriesNow, twice, notes, added };
}

/**
 * `application` may have other entries than the one of this name in the list. `report` is what else there is to say with
 * --json.
 */
export async function connect(
  command: Omit<ConnectOptions, "application">,
  application: ConnectedApplication,
  context: CliContext,
  report: object = {},
): Promise<number> {
  const planned = await planConnection(command, application, context);
  const { change, entries, twice, notes, added } = planned;
  const { file } = change;
  const named = command.file && file.file;
  const isNew = isChanged(change);
  const otherwise =
    added.length === 0
      ? undefined
      : `${visible(file.file)} has not changed; Plugboard has ${added.map(visible).join(", ")} now (plugboard undo takes that back)`;
  if (isNew) await makeChange(change, { yes: command.yes, notes, otherwise }, context);
  return reportConnected({ application, file, named, entries, report, isNew, twice }, context);
}

/**
 * An application's file of this user is for all directories, so it gets the board of all directories: your own file, and
 * no --config. Then a trusted file of the directory that the application starts it in lies over yours, as everywhere.
 */
function chosenFile(found: ConfigSource, { file }: Pick<ConnectOptions, "file">): ConfigSource {
  if (found.kind !== "file" || found.base === undefined || file !== undefined) return found;
  return { kind: "file", path: found.base, from: "home" };
}

function twiceNotes(names: readonly string[], application: string): string[] {
  if (names.length === 0) return [];
  const [are, its, them] = names.length === 1 ? ["is", "its", "it"] : ["are", "their", "them"];
  return [
    `${names.map(visible).join(", ")} ${are} in ${application}'s file and on the board, so ${its} tools would be there twice; --move takes ${them} out of that file`,
  ];
}

/** Says it where there are two files, and one of them is left out. */
function whichServers(
  { id, name }: ConnectedApplication,
  found: ConfigSource,
  source: ConfigSource,
): string[] {
  if (found.kind !== "file" || found.base === undefined || source.kind !== "file") return [];
  if (source.path !== found.base) {
    return [`The board would have the servers of ${visible(source.path)} alone.`];
  }
  return [
    `The board would have the servers of ${visible(source.path)}, and those of a trusted plugboard.json`,
    `in the directory that ${name} starts it in. For the servers of this directory alone, wherever it starts:`,
    `  plugboard --config plugboard.json connect ${id}`,
  ];
}

/**
 * The application would start the board with --config, which asks nobody and reads no other file; or without it, if your
 * own file is left. Undefined without a file.
 */
async function loadAlone(
  source: ConfigSource,
  context: CliContext,
): Promise<TrustedConfig | undefined> {
  if (source.kind !== "file") return undefined;
  const trusted = await loadTrusted(source, context);
  const [last, ...beneath] = trusted === undefined ? [] : filesOf(trusted.source).reverse();
  return last === undefined || beneath.length === 0 ? trusted : loadTrusted(last, context);
}

function entriesOf(
  application: ConnectedApplication,
  { as }: Pick<ConnectOptions, "as">,
  start: BoardStart,
  value: unknown,
): Entry[] {
  const all = application.entries(start, value);
  const entries = all.filter((entry) => as === undefined || entry.as === as);
  if (entries.length > 0) return entries;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${application.name} has no entry for ${as === "agent" ? "an agent" : "a server"} in its file`,
    { hint: "leave out --as" },
  );
}

/** Each board would start the next one. */
function refuseBoardInBoard(
  source: ConfigSource,
  { servers }: AgentConfig,
  file: TextFile,
  { name }: ConnectedApplication,
): void {
  const path = source.kind === "file" ? source.path : undefined;
  if (path !== undefined && (path === file.file || path === file.target)) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `${visible(path)} is ${name}'s own file, and the board that would be put into it reads it too`,
      { hint: "import its servers first: plugboard import --write" },
    );
  }
  const own = servers.find(({ target }) => target.kind !== "acp" && isBoard(target));
  if (own === undefined) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `the server '${oneLine(own.name, 100)}' is Plugboard itself, so the board would be inside itself`,
    { server: own.name, hint: `take it out first: plugboard remove ${own.name}` },
  );
}

/** An entry of the same name that somebody else made is left alone. */
export function refuseForeign(
  entries: readonly Entry[],
  present: readonly Pick<Entry, "path">[],
  value: unknown,
  file: TextFile,
  { name }: ConnectedApplication,
): void {
  const taken = entries.find(
    ({ path }) =>
      valueIn(value, path) !== undefined &&
      !present.some((own) => isDeepStrictEqual(own.path, path)),
  );
  if (taken === undefined) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${visible(file.file)} has something else under ${taken.path.join(".")}, which is not changed`,
    { hint: `rename it in ${name}` },
  );
}

async function noServersNotes(
  source: ConfigSource,
  { servers }: AgentConfig,
  context: CliContext,
): Promise<string[]> {
  if (source.kind !== "demo" && servers.length > 0) return [];
  const found = await importableFrom(context);
  const [what, words] =
    found.length > 0
      ? ["bring yours", "import --write"]
      : ["add one", "add files -- npx -y @modelcontextprotocol/server-filesystem ."];
  return [
    `You have no servers yet, so the board would be empty or show the demo. To ${what}:`,
    `  ${offeredCommand(words, context.options)}`,
  ];
}

function startNotes({ name }: ConnectedApplication, { args, variables }: BoardStart): string[] {
  return [
    ...(variables.length === 0
      ? []
      : [
          `Your servers read these variables from the environment of ${name}, so start it where they are set: ${variables.join(", ")}`,
        ]),
    ...(args.some((word) => /[/\\]_npx[/\\]/.test(word))
      ? [
          "warning: this Plugboard is in npx's cache, which may be cleared; npm install -g plugboard keeps one",
        ]
      : []),
  ];
}

/** Names of servers that are in the application's file and on the board, under one name or doing the same. */
async function onBothSides(
  file: TextFile,
  { servers }: AgentConfig,
  context: CliContext,
): Promise<string[]> {
  const read = await serversOf(file, context);
  const onBoard = servers.filter(({ enabled }) => enabled);
  const names = new Set(onBoard.map(({ name }) => name));
  const targets = new Set(
    onBoard.map(({ target }) =>
      target.kind === "stdio" ? toKey(target.command, target.args) : isRemote(target) && target.url,
    ),
  );
  return [...(read?.servers ?? [])].flatMap(([name, given]) => {
    const { enabled, command, args = [], url = "" } = given as ServerConfig;
    const target = command === undefined ? url : toKey(command, args);
    return enabled !== false && (names.has(name) || targets.has(target)) ? [name] : [];
  });
}

function toKey(command: string, args: readonly string[]): string {
  return JSON.stringify([command, ...args]);
}

interface Connected {
  report: object;
  application: ConnectedApplication;
  file: TextFile;
  /** Its name, if somebody has given it. */
  named: string | undefined;
  entries: readonly Entry[];
  isNew: boolean;
  twice: readonly string[];
}

function reportConnected(
  { application, file, named, entries, isNew, twice, report }: Connected,
  { screen, options }: CliContext,
): number {
  if (options.json) {
    screen.json({
      application: application.id,
      file: file.file,
      changed: isNew,
      entries: entries.map(({ as, path, value }) => ({ as, path, value })),
      twice,
      ...report,
    });
    return EXIT.ok;
  }
  const { name, id, next } = application;
  screen.lines(
    isNew
      ? [
          `connected ${name}: ${visible(file.file)}`,
          capitalised(next),
          "To take it out again:",
          `  ${offeredUndo(`connect ${id}`, named)}`,
        ]
      : [`${name} is connected already: ${visible(file.file)}`],
  );
  return EXIT.ok;
}
