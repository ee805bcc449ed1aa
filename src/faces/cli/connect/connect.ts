// `plugboard connect`: puts the board into another application's own file, and takes it out again.

import { rm, rmdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type ConfigSource, filesOf } from "../../../config/find.ts";
import { plugboardHome } from "../../../config/home.ts";
import { readOtherFile } from "../../../config/other-files.ts";
import { isBoard } from "../../../config/own-server.ts";
import { parseAgentConfig } from "../../../config/parse.ts";
import { readTextFile, type TextFile, writeTextFile } from "../../../config/text/text-file.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { ServerConfig } from "../../../model/server-config.ts";
import { closest } from "../../../util/closest.ts";
import { capitalised, oneLine } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { findSource, withoutFile } from "../open.ts";
import { requireYes } from "../terminal/input.ts";
import { renderTable, type Row } from "../terminal/table.ts";
import { loadTrusted, type TrustedConfig } from "../trust/load-trusted.ts";
import {
  CONNECTED,
  type ConnectedApplication,
  type Entry,
  isOurs,
  type Launch,
  valueIn,
} from "./applications.ts";
import type { ConnectCommand, ConnectOptions } from "./command.ts";
import { type Splice, takeBack, withEntries, withoutEntries } from "./entry-text.ts";
import {
  type Connection,
  fileOf,
  findApplication,
  type FoundApplication,
  valueOf,
} from "./found.ts";
import { launchOf } from "./launch.ts";
import { changeLines } from "./preview.ts";
import { hashOf, readRecord, removeRecord, writeRecord } from "./record.ts";

/** The file may get credentials of other servers later. */
const OWN_MODE = 0o600;

export async function runConnect(command: ConnectCommand, context: CliContext): Promise<number> {
  switch (command.action) {
    case "list":
      return runList(context);
    case "connect":
      return connect(command, context);
    case "undo":
      return undo(command, context);
  }
}

// What is here

async function runList({ io, screen, options }: CliContext): Promise<number> {
  const found = await Promise.all(CONNECTED.map((application) => findApplication(application, io)));
  if (options.json) {
    screen.json(found.map(toJson));
    return EXIT.ok;
  }
  const { paint, width } = screen.terminal.out;
  const here = found.filter(
    ({ isInstalled, connection }) => isInstalled || connection.kind === "connected",
  );
  const others = found.filter((each) => !here.includes(each));
  const rows = here.map(({ application, path, connection }): Row => ({
    cells: [application.id, stateCell(connection), { text: path, tone: "dim" }],
    ...(connection.kind === "connected" &&
      connection.missing !== undefined && {
        notes: [
          `${visible(connection.missing)} is gone; to connect it again:`,
          `  ${offeredCommand(`connect ${application.id}`, options)}`,
        ],
      }),
    ...(connection.kind === "unknown" && { notes: [oneLine(connection.problem, 300)] }),
  }));
  screen.lines([
    ...renderTable([{}, {}, { min: 20 }], rows, { width, paint }),
    ...(rows.length === 0 ? ["None of the applications that Plugboard knows is here."] : [""]),
    ...(others.length === 0
      ? []
      : [paint("dim", `not here: ${others.map(({ application }) => application.id).join(", ")}`)]),
    ...(here.some(({ connection }) => connection.kind === "absent")
      ? [
          "To put your servers into one of them:",
          `  ${offeredCommand("connect <application>", options)}`,
        ]
      : []),
  ]);
  return EXIT.ok;
}

function stateCell(connection: Connection): Row["cells"][number] {
  switch (connection.kind) {
    case "absent":
      return { text: "not connected", tone: "dim" };
    case "unknown":
      return { text: "cannot be read", tone: "yellow" };
    case "connected":
      return connection.missing === undefined
        ? { text: `connected as ${connection.as.join(" and ")}`, tone: "green" }
        : { text: "connected, but broken", tone: "red" };
  }
}

function toJson({ application, path, isInstalled, connection }: FoundApplication): object {
  const { kind, ...rest } = connection;
  return { application: application.id, file: path, installed: isInstalled, state: kind, ...rest };
}

// Putting it in

async function connect(command: ConnectOptions, context: CliContext): Promise<number> {
  const { io, screen, options } = context;
  const application = find(command.application);
  const found = findSource(context);
  const { source, agent } = (await loadAlone(chosenFile(found, command), context)) ?? {
    source: found,
    agent: withoutFile(context, () => parseAgentConfig({ servers: {} })),
  };
  const file = await readTextFile(await pathOf(application, command, context));
  refuseBoardInBoard(source, agent, file, application);
  const launch = await launchOf(source, agent, context);
  const home = plugboardHome(io.env, io.homedir);
  const base = await baseOf(file, home);
  const value = valueOf(application, { ...file, text: base.text });
  const entries = entriesOf(application, command, launch, value);
  refuseForeign(entries, value, file, application);
  const { text, splices } = withEntries(application.syntax, base.text ?? "", entries, file.file);
  if (text === file.text) {
    return reportConnected({ application, file, entries, isNew: false, twice: [] }, context);
  }
  const twice = await onBothSides(application, file, agent, io);
  const lines = [
    `${visible(file.file)} would change:`,
    ...changeLines(base.text ?? "", splices),
    ...notes(application, source, agent, launch, options),
    ...whichServers(application, found, source),
    ...twice.map(
      (name) =>
        `${visible(name)} is in ${application.name}'s file and on the board: its tools would be there twice`,
    ),
  ];
  for (const line of lines) screen.note(line);
  await requireYes("Write it?", { yes: command.yes, what: "write it" }, context);
  // Where an entry of ours was there before, nobody knows what the file was without it.
  const isExact = !entries.some(({ path }) => valueIn(value, path) !== undefined);
  if (isExact) {
    await writeRecord(home, {
      file: file.target,
      before: base.text === undefined ? undefined : hashOf(base.text),
      after: hashOf(text),
      splices,
      directories: base.directories ?? (await missingDirectories(file.target)),
    });
  } else {
    await removeRecord(home, file.target);
  }
  await writeTextFile(file, text, { mode: OWN_MODE });
  return reportConnected({ application, file, entries, isNew: true, twice }, context);
}

/**
 * An application's file of this user is for all directories, so it gets the board of all directories: your own file, and
 * no --config. Then a trusted file of the directory that the application starts it in lies over yours, as everywhere.
 */
function chosenFile(found: ConfigSource, { file }: ConnectOptions): ConfigSource {
  if (found.kind !== "file" || found.base === undefined || file !== undefined) return found;
  return { kind: "file", path: found.base, from: "home" };
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

interface Base {
  /** Undefined where there is no file. */
  text: string | undefined;
  /** Those that were made for the file before. */
  directories?: string[];
}

/** What the file was before it was connected, where that is known. */
async function baseOf({ target, text }: TextFile, home: string): Promise<Base> {
  const record = await readRecord(home, target);
  if (record === undefined || text === undefined || hashOf(text) !== record.after) return { text };
  const before = takeBack(text, record.splices);
  if (before === undefined) return { text };
  const { directories } = record;
  if (record.before === undefined) return { text: undefined, directories };
  return hashOf(before) === record.before ? { text: before, directories } : { text };
}

function entriesOf(
  application: ConnectedApplication,
  { as }: ConnectOptions,
  launch: Launch,
  value: unknown,
): Entry[] {
  const all = application.entries(launch, value);
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
  const own = servers.find(({ target }) => isBoard(target));
  if (own === undefined) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `the server '${oneLine(own.name, 100)}' is Plugboard itself, so the board would be inside itself`,
    { server: own.name, hint: `take it out first: plugboard remove ${own.name}` },
  );
}

/** An entry of the same name that somebody else made is left alone. */
function refuseForeign(
  entries: readonly Entry[],
  value: unknown,
  file: TextFile,
  { name }: ConnectedApplication,
): void {
  const taken = entries.find(({ path }) => {
    const there = valueIn(value, path);
    return there !== undefined && !isOurs(there);
  });
  if (taken === undefined) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${visible(file.file)} has something else under ${taken.path.join(".")}, which is not changed`,
    { hint: `rename it in ${name}` },
  );
}

function notes(
  { name }: ConnectedApplication,
  source: ConfigSource,
  { servers }: AgentConfig,
  { args, variables }: Launch,
  options: CliContext["options"],
): string[] {
  return [
    ...(source.kind === "demo" || servers.length === 0
      ? [
          "You have no servers yet, so the board would be empty or show the demo. To bring yours:",
          `  ${offeredCommand("import --write", options)}`,
        ]
      : []),
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
  application: ConnectedApplication,
  file: TextFile,
  { servers }: AgentConfig,
  { cwd, homedir }: CliContext["io"],
): Promise<string[]> {
  if (file.text === undefined) return [];
  const read = await readOtherFile(file.file, { cwd, homedir }).catch((error: unknown) => {
    // A file without servers is nobody's.
    if (error instanceof PlugboardError) return undefined;
    throw error;
  });
  const onBoard = servers.filter(({ enabled }) => enabled);
  const names = new Set(onBoard.map(({ name }) => name));
  const targets = new Set(
    onBoard.map(({ target }) =>
      target.kind === "stdio" ? toKey(target.command, target.args) : target.url,
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

async function missingDirectories(file: string): Promise<string[]> {
  const missing: string[] = [];
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const isThere = await stat(directory).then(
      () => true,
      () => false,
    );
    if (isThere || directory === dirname(directory)) return missing;
    missing.unshift(directory);
  }
}

// Taking it out

async function undo(command: ConnectOptions, context: CliContext): Promise<number> {
  const { io, screen } = context;
  const application = find(command.application);
  const file = await readTextFile(await pathOf(application, command, context));
  const home = plugboardHome(io.env, io.homedir);
  const record = await readRecord(home, file.target);
  const base = await baseOf(file, home);
  const isExact = base.text !== file.text && command.as === undefined;
  if (isExact && base.text === undefined) {
    screen.note(`${visible(file.file)} was made for this, and would be removed`);
    await requireYes("Remove it?", { yes: command.yes, what: "remove it" }, context);
    await rm(file.target);
    for (const directory of record?.directories.toReversed() ?? []) {
      // Somebody else may have put something into it.
      await rmdir(directory).catch(() => undefined);
    }
    await removeRecord(home, file.target);
    return reportUndone(application, file, "exact", context);
  }
  const { text, splices } = isExact
    ? { text: base.text ?? "", splices: undone(record?.splices ?? []) }
    : withoutOurs(application, command, file);
  if (text === file.text || file.text === undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", `the board is not in ${visible(file.file)}`, {
      hint: `to see what is connected: ${offeredCommand("connect", context.options)}`,
    });
  }
  screen.note(`${visible(file.file)} would change:`);
  for (const line of changeLines(file.text, splices)) screen.note(line);
  await requireYes("Write it?", { yes: command.yes, what: "write it" }, context);
  await writeTextFile(file, text);
  await removeRecord(home, file.target);
  return reportUndone(application, file, isExact ? "exact" : "entry", context);
}

/** The same change in the other direction. */
function undone(splices: readonly Splice[]): Splice[] {
  return splices
    .toReversed()
    .map(({ start, removed, added }) => ({ start, removed: added, added: removed }));
}

function withoutOurs(
  application: ConnectedApplication,
  { as }: ConnectOptions,
  file: TextFile,
): { text: string; splices: Splice[] } {
  const value = valueOf(application, file);
  const entries = application
    .entries({ command: "", args: [], env: {}, variables: [] }, value)
    .filter((entry) => as === undefined || entry.as === as)
    .filter(({ path }) => isOurs(valueIn(value, path)));
  return withoutEntries(application.syntax, file.text ?? "", entries, file.file);
}

// Both ways

function find(word: string): ConnectedApplication {
  const found = CONNECTED.find(({ id }) => id === word);
  if (found !== undefined) return found;
  const ids = CONNECTED.map(({ id }) => id);
  const near = closest(word, ids);
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(word, 100)}' is not an application that Plugboard knows`,
    { hint: near === undefined ? `expected one of ${ids.join(", ")}` : `did you mean '${near}'?` },
  );
}

function pathOf(
  application: ConnectedApplication,
  { file }: ConnectOptions,
  { io }: CliContext,
): Promise<string> | string {
  return file === undefined ? fileOf(application, io) : resolve(io.cwd, file);
}

interface Connected {
  application: ConnectedApplication;
  file: TextFile;
  entries: readonly Entry[];
  isNew: boolean;
  twice: readonly string[];
}

function reportConnected(
  { application, file, entries, isNew, twice }: Connected,
  { screen, options }: CliContext,
): number {
  if (options.json) {
    screen.json({
      application: application.id,
      file: file.file,
      changed: isNew,
      entries: entries.map(({ as, path, value }) => ({ as, path, value })),
      twice,
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
          `  ${offeredCommand(`connect ${id} --undo`, {})}`,
        ]
      : [`${name} is connected already: ${visible(file.file)}`],
  );
  return EXIT.ok;
}

function reportUndone(
  { id, name }: ConnectedApplication,
  { file }: TextFile,
  kind: "exact" | "entry",
  { screen, options }: CliContext,
): number {
  if (options.json) {
    screen.json({ application: id, file, changed: true, exact: kind === "exact" });
    return EXIT.ok;
  }
  screen.lines([
    kind === "exact"
      ? `disconnected ${name}: ${visible(file)} is what it was before`
      : `disconnected ${name}: only the board's own entry is gone from ${visible(file)}`,
  ]);
  return EXIT.ok;
}
