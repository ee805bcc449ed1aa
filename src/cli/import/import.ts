// `plugboard import`: shows the servers of other applications, and adds them to a file of ours.

import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { plaintextCredentials, withoutCredentials } from "../../core/board/without-credentials.ts";
import { filesOf } from "../../core/config/find.ts";
import { APPLICATIONS } from "../../core/config/foreign/applications.ts";
import { findOtherFiles, type OtherFile, readOtherFile } from "../../core/config/other-files.ts";
import { type ServerText, withServer, writtenServers } from "../../core/config/server-text.ts";
import { PlugboardError, unknownServer } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { pathExists } from "../../util/path-exists.ts";
import { closest } from "../../util/closest.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { oneLine, plural, shellQuoted } from "../../util/text.ts";
import { visible, visibleCommand } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import { type SecretStore, withStore } from "../store-secret.ts";
import {
  changeServerFile,
  openServerFile,
  secretSettings,
  type ServerFile,
  untrustedLines,
} from "../servers/server-file.ts";
import type { TypedSecrets } from "../servers/typed-secrets.ts";
import { requireYes } from "../terminal/input.ts";
import { renderTable } from "../terminal/table.ts";
import type { Tone } from "../terminal/terminal.ts";
import { serverLines } from "../trust/view.ts";
import type { ImportRequest } from "./command.ts";
import { withInputs } from "./inputs.ts";
import { type Candidate, chosen, planImport, type Standing } from "./plan.ts";

/** What a file's mode lets others do with it. */
const OTHERS = 0o077;

export async function runImport(command: ImportRequest, context: CliContext): Promise<number> {
  const target = await openServerFile(command.scope, context);
  const { secrets } = command;
  if (secrets === undefined) return importInto(target, command, context);
  const settings = await secretSettings(target, context);
  return withStore(secrets.to, settings, context, (store) =>
    importInto(target, command, context, store),
  );
}

async function importInto(
  target: ServerFile,
  command: ImportRequest,
  context: CliContext,
  store?: SecretStore,
): Promise<number> {
  const { screen, options } = context;
  const project = resolve(context.io.cwd);
  const isElsewhere = dirname(target.path) !== project;
  const files = (await findFiles(command.from, context))
    .filter(({ path }) => path !== target.path && path !== target.original.target)
    .map((file) => (isElsewhere ? inProject(file, project) : file));
  requireNames(command.names, files);
  const candidates = planImport(files, {
    existing: { ...target.inherited, ...writtenServers(target) },
    references: command.references,
    place: store && ((name) => store.place(name).text),
    names: command.names,
  });
  if (command.write) return writeServers({ target, files, candidates, store }, command, context);
  if (options.json) screen.json(toJson(target, files, candidates));
  else screen.lines(listLines(files, candidates, command, context));
  return EXIT.ok;
}

interface Import {
  /** The file that gets the servers. */
  target: ServerFile;
  /** The files that have the servers. */
  files: readonly OtherFile[];
  candidates: readonly Candidate[];
  /** Where their credentials go. */
  store?: SecretStore | undefined;
}

async function writeServers(
  { target, files, candidates, store }: Import,
  command: ImportRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const planned = chosen(candidates, command.force);
  if (!options.json) {
    for (const line of shownFiles(files, candidates, context)) screen.note(line);
  }
  if (planned.length === 0) {
    if (options.json) screen.json({ ...toJson(target, files, candidates), written: [] });
    else {
      screen.lines(
        files.length === 0
          ? noFileLines(command)
          : [`nothing to import into ${visible(target.path)}`],
      );
    }
    return EXIT.ok;
  }
  const { wanted, typed, unset } = await withInputs(planned, target, command, context);
  const open = [...new Set([...withCredentials(wanted), ...withKeysInPath(wanted)])];
  if (open.length > 0) await requirePrivate(target, open);
  const names = wanted.map(({ name }) => name);
  const change = (servers: ServerText): string =>
    wanted.reduce(
      (text, { name, server }) => withServer({ ...servers, text }, name, server),
      servers.text,
    );
  const what = `import ${oneLine(names.join(", "), 200)}`;
  const isTrusted = await typed.onceAgreed(
    () => requireApproval(wanted, typed, target, command, context),
    async () => {
      if (store !== undefined) await putAway(wanted, target, command, store);
      return changeServerFile(target, change, { names, what }, context);
    },
  );
  const variables = [...new Set(wanted.flatMap((each) => each.variables))];
  if (options.json) {
    screen.json({
      ...toJson(target, files, candidates),
      written: names,
      variables: [...variables, ...unset],
      trusted: isTrusted,
    });
    return EXIT.ok;
  }
  screen.lines([`added ${names.map(visible).join(", ")} to ${visible(target.path)}`]);
  for (const line of leftLines(candidates, planned)) screen.note(line);
  for (const line of variableLines(variables)) screen.note(line);
  for (const line of inputLines(unset)) screen.note(line);
  if (!isTrusted) {
    for (const line of untrustedLines(target, context)) screen.note(line);
    return EXIT.ok;
  }
  const source = findSource(context);
  const isInUse =
    source.kind === "file" && filesOf(source).some(({ path }) => path === target.path);
  if (!command.check || !isInUse) return EXIT.ok;
  screen.lines([""]);
  return (await import("../status/overview.ts")).runOverview(context, {
    check: false,
    refresh: false,
  });
}

/** Nothing is written to the file before all of them are there. */
async function putAway(
  wanted: readonly Candidate[],
  target: ServerFile,
  { force }: ImportRequest,
  store: SecretStore,
): Promise<void> {
  const before = JSON.stringify(writtenServers(target));
  for (const { secrets } of wanted) {
    for (const { name, value, reference } of secrets) {
      // What the file refers to already is this server's own.
      await store.put(name, value, force || before.includes(reference));
    }
  }
}

/** Rejects with INVALID_ARGUMENTS for a word that names neither an application nor a file. */
async function findFiles(from: readonly string[], context: CliContext): Promise<OtherFile[]> {
  const { env, cwd, homedir } = context.io;
  const around = { env, cwd: resolve(cwd), homedir, platform: process.platform };
  const ids = new Set<string>(APPLICATIONS.map(({ id }) => id));
  const isAll = from.length === 0;
  const found = isAll || from.some((each) => ids.has(each)) ? await findOtherFiles(around) : [];
  const named = await Promise.all(
    from
      .filter((each) => !ids.has(each))
      .map(async (each) => {
        const path = resolve(cwd, each);
        if (await pathExists(path)) return readOtherFile(path, around);
        throw new PlugboardError(
          "INVALID_ARGUMENTS",
          /[./\\]/.test(each)
            ? `there is no file ${oneLine(visible(path))}`
            : `'${oneLine(each, 100)}' is neither an application nor a file`,
          { hint: meant(each, [...ids]) },
        );
      }),
  );
  return [...found.filter((file) => isAll || from.includes(file.application)), ...named];
}

/** A program of a project works in its directory, from whatever file it is started. */
function inProject(file: OtherFile, project: string): OtherFile {
  if (file.scope !== "project") return file;
  const servers = [...file.servers].map(([name, server]): [string, JsonObject] => [
    name,
    server["command"] === undefined ? server : { cwd: project, ...server },
  ]);
  return { ...file, servers: new Map(servers) };
}

function meant(word: string, ids: readonly string[]): string {
  const near = closest(word, ids);
  return near === undefined
    ? `expected a file, or one of ${ids.toSorted().join(", ")}`
    : `did you mean '${near}'?`;
}

function requireNames(names: readonly string[], files: readonly OtherFile[]): void {
  const known = files.flatMap(({ servers }) => [...servers.keys()]);
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return;
  const file = files.find(({ leftOut }) => leftOut.has(missing));
  if (file !== undefined) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `'${oneLine(missing, 100)}' of ${file.name} cannot be imported: ${visible(file.leftOut.get(missing) ?? "")}`,
      { server: missing, hint: "to add it in your own words: plugboard add" },
    );
  }
  const { code, message, server, hint } = unknownServer(missing, [...new Set(known)]);
  throw new PlugboardError(code, `${message} in the files that were found`, {
    server,
    hint: known.length === 0 ? "to see what is there: plugboard import" : hint,
  });
}

// What is shown

function noFileLines({ from }: ImportRequest): string[] {
  if (from.length > 0) {
    return [`there is no file of ${from.map((each) => visible(each)).join(" or ")} here`];
  }
  return [
    "there are no files of other applications here",
    "To add a server yourself:",
    "  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
  ];
}

function listLines(
  files: readonly OtherFile[],
  candidates: readonly Candidate[],
  command: ImportRequest,
  context: CliContext,
): string[] {
  if (files.length === 0) return noFileLines(command);
  const count = chosen(candidates, command.force).length;
  const { names, from, scope, references, secrets, force } = command;
  const words = [
    "import",
    ...names,
    ...from.flatMap((each) => ["--from", each]),
    "--write",
    ...(scope === undefined ? [] : ["--scope", scope]),
    ...(force ? ["--force"] : []),
    ...(references ? ["--references"] : []),
    ...(secrets ? ["--secrets", ...(secrets.to === undefined ? [] : [secrets.to])] : []),
  ];
  const next = offeredCommand(words.map(shellQuoted).join(" "), context.options);
  return [
    ...shownFiles(files, candidates, context),
    ...(count === 0
      ? ["There is nothing new to import."]
      : [`To add ${plural(count, "server")}:`, `  ${next}`]),
  ];
}

/** What was found and not taken, though you do not have it. */
function leftLines(candidates: readonly Candidate[], wanted: readonly Candidate[]): string[] {
  return candidates.flatMap((each) => {
    const { name, file, standing } = each;
    if (standing.kind !== "different" || wanted.includes(each)) return [];
    return [
      `not added: ${visible(name)} of ${file.name}, because you have another one of this name; import --force replaces it`,
    ];
  });
}

function shownFiles(
  files: readonly OtherFile[],
  candidates: readonly Candidate[],
  { screen }: CliContext,
): string[] {
  const { paint, width } = screen.terminal.out;
  return files.flatMap((file) => {
    const own = candidates.filter((candidate) => candidate.file === file);
    const rows = own.map(({ name, server, standing }) => ({
      cells: [name, targetText(server), standingCell(standing)],
    }));
    const columns = [{}, { min: 20 }, { min: 20, overflow: "wrap" as const }];
    const table = renderTable(columns, rows, { width, paint, indent: 2 });
    return [
      `${paint("bold", visible(file.name))}  ${paint("dim", visible(file.path))}`,
      ...table,
      ...(file.servers.size === 0 && file.problem === undefined ? ["  no servers"] : []),
      ...(file.problem === undefined ? [] : [`  cannot be read: ${visible(file.problem)}`]),
      ...file.warnings.map((warning) => `  warning: ${visible(warning)}`),
      "",
    ];
  });
}

function targetText(server: Candidate["server"]): string {
  const { command, args = [], url = "" } = withoutCredentials(server);
  return command === undefined ? visible(url) : visibleCommand([command, ...args]);
}

function standingCell(standing: Standing): { text: string; tone?: Tone } {
  switch (standing.kind) {
    case "new":
      return { text: "new", tone: "green" };
    case "present":
      return { text: "you have it", tone: "dim" };
    case "different":
      return {
        text: "you have another one of this name; import --force replaces it",
        tone: "yellow",
      };
    case "repeated":
      return { text: `the same as in ${standing.by}`, tone: "dim" };
    case "renamed":
      return {
        text: `new; another ${standing.from} is in ${standing.by}, and --from chooses one`,
        tone: "green",
      };
  }
}

async function requireApproval(
  wanted: readonly Candidate[],
  typed: TypedSecrets,
  target: ServerFile,
  { yes }: ImportRequest,
  context: CliContext,
): Promise<void> {
  const { screen } = context;
  const lines = [
    `This would be added to ${visible(target.path)}:`,
    ...wanted.flatMap(({ name, server }) => serverLines(name, withoutCredentials(server))),
    ...credentialLines(withCredentials(wanted)),
    ...secretLines(wanted),
    ...typed.lines(),
  ];
  for (const line of lines) screen.note(line);
  await requireYes("Add them?", { yes, what: "add them" }, context);
}

/** The names of those that would be written with a credential as it is. */
function withCredentials(wanted: readonly Candidate[]): string[] {
  return wanted
    .filter(({ server }) => canonicalJson(withoutCredentials(server)) !== canonicalJson(server))
    .map(({ name }) => visible(name));
}

/** The names of those with what looks like a key in the path of a URL. `withoutCredentials` does not hide that. */
function withKeysInPath(wanted: readonly Candidate[]): string[] {
  return wanted
    .filter(({ server }) => plaintextCredentials(server, undefined, { inPath: true }).length > 0)
    .map(({ name }) => visible(name));
}

/** Rejects with INVALID_ARGUMENTS for a file that others can read: everybody who has the project gets it. */
async function requirePrivate(
  { path, source, original }: ServerFile,
  names: string[],
): Promise<void> {
  if (source.from === "home") return;
  const file = await stat(original.target).catch(() => undefined);
  if (file !== undefined && (file.mode & OTHERS) === 0) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${visible(path)} can be read by others, so the credentials of ${names.join(", ")} were not written to it`,
    {
      hint:
        "import --secrets stores them elsewhere and writes references to them, import --references writes the names of " +
        "variables, and import --scope user writes them to your own file, outside the project",
    },
  );
}

/** A file is read by more people and programs than a variable is. */
function credentialLines(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        // `plugboard connect --move` imports too, and has no such options.
        `warning: the credentials of ${names.join(", ")} would be written to the file as they are; import --secrets stores them elsewhere and writes references to them, import --references writes the names of variables`,
      ];
}

function secretLines(wanted: readonly Candidate[]): string[] {
  const references = wanted.flatMap(({ secrets }) => secrets.map(({ reference }) => reference));
  if (references.length === 0) return [];
  return [
    "These values would be stored as secrets:",
    ...references.map((each) => `  ${visible(each)}`),
  ];
}

function variableLines(variables: readonly string[]): string[] {
  if (variables.length === 0) return [];
  return [
    "These variables must be set where the servers start. Their values are in the files of the applications:",
    ...variables.map((name) => `  export ${name}=`),
  ];
}

function inputLines(unset: readonly string[]): string[] {
  if (unset.length === 0) return [];
  return [
    "These variables must be set where the servers start. The application asks for their values:",
    ...unset.map((name) => `  export ${name}=`),
  ];
}

function toJson(
  target: ServerFile,
  files: readonly OtherFile[],
  candidates: readonly Candidate[],
): object {
  return {
    file: target.path,
    found: files.map((file) => ({
      application: file.application,
      file: file.path,
      ...(file.scope && { scope: file.scope }),
      ...(file.problem !== undefined && { problem: file.problem }),
      warnings: file.warnings,
      servers: candidates
        .filter((candidate) => candidate.file === file)
        .map(({ name, server, standing, variables }) => {
          const { kind, ...rest } = standing;
          return { name, standing: kind, ...rest, server: withoutCredentials(server), variables };
        }),
    })),
  };
}
