// The help of a command, as it is printed: how it is typed, what it takes, what is to be known, and examples.

import type { Argument, Command, CommandGroup } from "../command.ts";
import { GLOBAL_OPTIONS, HELP } from "../context.ts";
import { flagsOf, type Option, takesValue } from "../option.ts";
import { wrapLine } from "../terminal/width.ts";
import { SERVER_NOTES } from "../typed-server.ts";

const EXIT_CODES = `
Exit codes:
  0    ok
  1    the tool reported an error, the model stopped before it was done,
       the output could not be written, the audit is damaged, a server is
       outdated, or the doctor found something broken
  2    wrong usage or configuration, an unknown tool, an untrusted file
  3    the server, the model or a secret is unavailable, or did not answer in
       time
  4    refused: by a rule, without approval, or because the tool has changed
  70   internal error, a bug in Plugboard
  130  interrupted; 129 after SIGHUP, 131 after SIGQUIT, 143 after SIGTERM`;

/** What a command does must not stand below a screen of options that are the same for all. */
const OPTIONS_OF_ALL = `
Options of every command, such as --config and --json, are in:
  plugboard --help`;

/** Texts are written for it. */
const WIDTH = 80;
/** On a narrower terminal, descriptions stand below what they describe. */
const NARROW = 60;
/** Where a column is narrower, its lines are not broken. */
const NARROWEST = 20;

/**
 * `path` are the words that name the command. `groups` are the commands within the outermost one. `width` is that of the
 * terminal.
 */
export function commandPage(
  command: Command,
  path: string,
  groups: readonly CommandGroup[] | undefined,
  width = WIDTH,
): string {
  const isOutermost = groups !== undefined;
  const within = groups ?? [{ title: "Commands", commands: command.commands }];
  const lists = [
    { title: "Arguments", items: shownArguments(command).map(argumentItem) },
    ...(isOutermost ? [] : [optionList(command)]),
    ...within.map((group) => commandList(group, isOutermost)),
    // The commands come first, then the options that all of them have.
    ...(isOutermost ? [optionList(command)] : []),
  ];
  const text = [
    usageText(command, path),
    "",
    ...wrapped(command.about, width),
    ...formatted(lists, width),
    ...(isOutermost ? [] : [OPTIONS_OF_ALL]),
    ...notesOf(command),
    `\nExamples:\n${command.examples.map((each) => `  ${each}`).join("\n")}`,
    ...(isOutermost ? [EXIT_CODES] : []),
    "",
  ];
  return fitted(text.join("\n"), width);
}

/** Paragraphs for 80 columns, each with an empty line before it. */
export function notesOf({ server, notes }: Command): string[] {
  const ofServer = server !== undefined && server.noProgram === undefined ? [SERVER_NOTES] : [];
  return [...ofServer, ...(notes === undefined ? [] : [notes])];
}

/** What stands after the name of a command, a line for each way to use it. */
export function usageOf({ usage, args, commands, server }: Command): string[] {
  if (usage !== undefined) return [...usage];
  const within = commands.length > 0 ? ["[command]"] : [];
  const own = ["[options]", ...within, ...args.map(argumentTerm)].join(" ");
  if (server === undefined) return [own];
  const beside = args.filter(({ isServer }) => isServer !== true).map(argumentTerm);
  return [
    own,
    ["[options]", ...beside, "-- <command...>"].join(" "),
    ["[options]", "<url>", ...beside].join(" "),
  ];
}

const TERMS: Readonly<Record<Argument["kind"], (name: string) => string>> = {
  one: (name) => `<${name}>`,
  maybe: (name) => `[${name}]`,
  some: (name) => `<${name}...>`,
  any: (name) => `[${name}...]`,
};

function argumentTerm({ kind, name }: Argument): string {
  return TERMS[kind](name);
}

/** Where one is explained, all of them are listed. */
export function shownArguments({ args }: Command): readonly Argument[] {
  return args.some(({ about }) => about !== undefined) ? args : [];
}

/** The options of the command, and --help, which every command has. */
export function shownOptions({ options, help }: Command): Option[] {
  const about = help === undefined ? HELP : { ...HELP, about: help.about };
  const shown = options === GLOBAL_OPTIONS ? options : { ...options, help: about };
  return Object.values<Option>(shown).filter(({ isHidden }) => isHidden !== true);
}

interface Item {
  term: string;
  about: string;
}

interface List {
  title: string;
  items: readonly Item[];
}

function argumentItem({ name, about = "", choices }: Argument): Item {
  return { term: name, about: withRemarks(about, { choices }) };
}

function optionList(command: Command): List {
  const items = shownOptions(command).map((option) => {
    const { choices } = takesValue(option) ? option : {};
    const preset = option.kind === "optional" ? option.preset : undefined;
    return { term: flagsOf(option), about: withRemarks(option.about, { choices, preset }) };
  });
  return { title: "Options", items };
}

function commandList({ title, commands }: CommandGroup, isOutermost: boolean): List {
  const items = commands.map((command) => ({
    // In the list of all commands, names alone: each fits on a line then.
    term: isOutermost ? command.name : commandTerm(command),
    about: command.about,
  }));
  return { title, items };
}

function commandTerm({ name, args, options }: Command): string {
  const given = Object.keys(options).length > 0 ? ["[options]"] : [];
  return [name, ...given, ...args.map(argumentTerm)].join(" ");
}

function withRemarks(
  about: string,
  { choices, preset }: { choices?: readonly string[] | undefined; preset?: string | undefined },
): string {
  const remarks = [
    ...(choices === undefined
      ? []
      : [`choices: ${choices.map((each) => JSON.stringify(each)).join(", ")}`]),
    ...(preset === undefined ? [] : [`preset: ${JSON.stringify(preset)}`]),
  ];
  return remarks.length === 0 ? about : `${about} (${remarks.join(", ")})`;
}

function usageText(command: Command, path: string): string {
  const [alias] = command.aliases;
  const name = alias === undefined ? path : `${path}|${alias}`;
  const lines = usageOf(command).map((usage) => `${name} ${usage}`);
  return `Usage: ${lines.join("\n       ")}`;
}

/** All lists have the same columns. */
function formatted(lists: readonly List[], width: number): string[] {
  const shown = lists.filter(({ items }) => items.length > 0);
  const column = Math.max(...shown.flatMap(({ items }) => items.map(({ term }) => term.length)));
  return shown.flatMap(({ title, items }) => [
    "",
    `${title}:`,
    ...items.flatMap((item) => itemLines(item, column, width)),
  ]);
}

function itemLines({ term, about }: Item, column: number, width: number): string[] {
  if (about === "") return [`  ${term}`];
  if (width < NARROW) {
    return [`  ${term}`, ...wrapped(about, width - 6).map((line) => `      ${line}`)];
  }
  const [first = "", ...others] = wrapped(about, width - column - 4);
  const margin = " ".repeat(column + 4);
  return [`  ${term.padEnd(column)}  ${first}`, ...others.map((line) => `${margin}${line}`)];
}

function wrapped(text: string, width: number): string[] {
  return width < NARROWEST ? [text] : wrapLine(text, width);
}

/** Lines that are indented stay as they are: they are commands or lists. */
function fitted(text: string, width: number): string {
  if (width >= WIDTH) return text;
  return text
    .replace(/^(\S.*[^:\n])\n(?=\S)/gm, "$1 ")
    .split("\n")
    .flatMap((line) => (/^\s|^Usage:/.test(line) ? [line] : wrapped(line, Math.max(40, width))))
    .join("\n");
}
