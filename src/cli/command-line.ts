// Reads a command line by the commands that there are: which one is meant, its words and options, and what is wrong with
// them. Help, the version and mistakes are answered here.

import { type Argument, type Command, type HelpWanted, Mistake, type Prepared } from "./command.ts";
import { type Option, takesValue, type ValuedOption } from "./option.ts";
import { findCommand, loadGroups, PLUGBOARD } from "./commands.ts";
import { GLOBAL_OPTIONS, type GlobalOptions, globalOptions } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { hasServer, takeServer, type TypedServer } from "./typed-server.ts";

export interface CommandLineOutput {
  out(text: string): void;
  err(text: string): void;
  width: number | undefined;
}

export type Invocation =
  | (Omit<Prepared, "kind"> & {
      kind: "run";
      /** Of the command. */
      name: string;
      options: GlobalOptions;
      /** The words of a command that can use a typed server, if none is typed: one may have been meant. */
      untyped?: readonly string[];
    })
  /** Help, the version or a mistake, which has been printed. With --json, `error` says what is wrong, and `hint` what to do. */
  | { kind: "answered"; exitCode: number; error?: string; hint?: string };

export async function readCommandLine(
  argv: readonly string[],
  output: CommandLineOutput,
): Promise<Invocation> {
  const line = await scan(argv);
  const answer = await meaningOf(line);
  switch (answer.kind) {
    case "prepared": {
      const { typed, request, traits, run } = answer;
      const isTyped = typed !== undefined && hasServer(typed);
      return {
        kind: "run",
        // Alone, it does what `plugboard list` does.
        name: line.path[1]?.name ?? "list",
        request,
        traits,
        run,
        options: globalOptions(line.globals, typed),
        ...(line.command.server && !isTyped && { untyped: line.rest }),
      };
    }
    case "version": {
      const { packageVersion } = await import("../util/version.ts");
      output.out(`${packageVersion()}\n`);
      return { kind: "answered", exitCode: EXIT.ok };
    }
    case "help":
      output.out(await helpOf(answer.path, output));
      return { kind: "answered", exitCode: EXIT.ok };
    case "incomplete": {
      output.err(await helpOf(line.path, output));
      const names = line.command.commands.map(({ name }) => name);
      const error = `missing command: ${names.join(" or ")}`;
      return { kind: "answered", exitCode: EXIT.usage, ...(line.wantsJson && { error }) };
    }
    default: {
      const { explain } = await import("./mistakes.ts");
      const { message: error, hint } = await explain(answer, line);
      output.err(`plugboard: ${error}\nhint: ${hint}\n`);
      return { kind: "answered", exitCode: EXIT.usage, ...(line.wantsJson && { error, hint }) };
    }
  }
}

async function helpOf(path: readonly Command[], { width }: CommandLineOutput): Promise<string> {
  const { commandPage } = await import("./help/command-page.ts");
  const command = path.at(-1) ?? PLUGBOARD;
  const groups = command === PLUGBOARD ? await loadGroups() : undefined;
  return commandPage(command, path.map(({ name }) => name).join(" "), groups, width);
}

/** A command line, taken apart. */
export interface Line {
  /** From the outermost command to the one that is meant. */
  path: readonly Command[];
  command: Command;
  /** Everything after its name. */
  rest: readonly string[];
  /** What is neither a command nor an option. */
  words: readonly string[];
  /** The words after `--`, of a command for which they are a program. */
  behind?: readonly string[];
  /** By key. */
  options: Given;
  /** The options of every command. */
  globals: Given;
  /** The first one. */
  mistake?: LineMistake;
  wantsJson: boolean;
}

type Given = Record<string, unknown>;

/** What is wrong with a command line; `mistakes.ts` has the words for it. */
export type LineMistake =
  /** `path` are the commands that it was expected in, `others` the words after it, `codes` what else was understood. */
  | {
      kind: "unknown-command";
      word: string;
      path: readonly Command[];
      others?: readonly string[];
      codes?: readonly string[];
    }
  | { kind: "unknown-option"; word: string }
  | { kind: "missing-value"; option: Option }
  | { kind: "needless-value"; option: Option }
  | { kind: "wrong-value"; option: ValuedOption; text: string; expected?: string }
  | { kind: "conflict"; option: Option; other: Option }
  | { kind: "missing-argument"; argument: Argument; typed: TypedServer | undefined }
  | { kind: "wrong-argument"; argument: Argument; text: string }
  | { kind: "too-many"; words: readonly string[]; from: number }
  /** One that the command itself has found. */
  | Mistake;

type Meaning =
  | (Prepared & { typed?: TypedServer | undefined })
  | { kind: "version" }
  | { kind: "help"; path: readonly Command[] }
  /** A command that is nothing without one of those within it. */
  | { kind: "incomplete" }
  | LineMistake;

const END_OF_OPTIONS = "--";

async function scan(argv: readonly string[]): Promise<Line> {
  const end = argv.indexOf(END_OF_OPTIONS);
  const words: string[] = [];
  const path = [PLUGBOARD];
  let command = PLUGBOARD;
  const globals = defaultsOf(PLUGBOARD);
  let options = globals;
  let rest = argv;
  let behind: readonly string[] | undefined;
  let mistake: LineMistake | undefined;

  const found = (name: string): Found | undefined =>
    optionNamed(name, command, options) ?? optionNamed(name, { options: GLOBAL_OPTIONS }, globals);

  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const isBehind = end !== -1 && at > end;
    if (at === end) {
      if (command.server === undefined && !command.takesProgram) continue;
      behind = argv.slice(at + 1);
      if (command.takesProgram) words.push(...behind);
      break;
    }
    if (isBehind || !isOption(word, command)) {
      const isName = words.length === 0 && hasCommands(command);
      const next = isName ? await findCommand(word, command) : undefined;
      if (next !== undefined) {
        path.push(next);
        command = next;
        options = defaultsOf(next);
        rest = argv.slice(at + 1);
      } else if (isName) {
        mistake ??= { kind: "unknown-command", word, path, others: argv.slice(at + 1) };
        break;
      } else {
        words.push(word);
      }
      continue;
    }
    const next = argv[at + 1];
    const taken = takeOption(word, next, found);
    const isUnknown = taken.mistake?.kind === "unknown-option";
    if (isUnknown && command.takesOptions && words.length > 0 && word.startsWith("--")) {
      words.push(word);
      continue;
    }
    mistake ??= taken.mistake;
    if (taken.usesNext) at += 1;
    // Before a command it is about all of them.
    if (command === PLUGBOARD && globals["help"] === true) break;
  }
  return {
    path,
    command,
    rest,
    words,
    ...(behind && { behind }),
    options,
    globals,
    ...(mistake && { mistake }),
    // The options may not have been read to the end, since one of them is wrong.
    wantsJson: argv.slice(0, end === -1 ? undefined : end).includes("--json"),
  };
}

interface Found {
  key: string;
  option: Option;
  /** Where its value goes. */
  given: Given;
}

function optionNamed(
  name: string,
  { options }: Pick<Command, "options">,
  given: Given,
): Found | undefined {
  const key = Object.keys(options).find((each) => {
    const option = options[each];
    return option?.name === name || option?.short === name || option?.also === name;
  });
  const option = key === undefined ? undefined : options[key];
  return key === undefined || option === undefined ? undefined : { key, option, given };
}

function defaultsOf({ options }: Command): Given {
  const given: Given = {};
  for (const [key, { kind }] of Object.entries(options)) {
    if (kind === "flag") given[key] = false;
    else if (kind === "denial") given[key] = true;
    else if (kind === "list") given[key] = [];
  }
  return given;
}

const NEGATIVE_NUMBER = /^-(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/;

/** A negative number is a word, unless a command is expected. */
function isOption(word: string, command?: Command): boolean {
  if (!word.startsWith("-") || word === "-") return false;
  return !NEGATIVE_NUMBER.test(word) || (command !== undefined && hasCommands(command));
}

function hasCommands(command: Command): boolean {
  return command === PLUGBOARD || command.commands.length > 0;
}

interface Taken {
  usesNext?: boolean;
  mistake?: LineMistake | undefined;
}

/** Reads `--name`, `--name value`, `--name=value`, `-n`, `-nvalue`, and `-nm` for `-n -m`. */
function takeOption(
  word: string,
  next: string | undefined,
  find: (name: string) => Found | undefined,
): Taken {
  const whole = find(word);
  if (whole !== undefined) return takeNext(whole, next, find);
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    const named = equals === -1 ? undefined : find(word.slice(0, equals));
    if (named === undefined) return { mistake: { kind: "unknown-option", word } };
    return { mistake: setValue(named, word.slice(equals + 1)) };
  }
  const first = find(word.slice(0, 2));
  if (first === undefined || word.length === 2)
    return { mistake: { kind: "unknown-option", word } };
  if (takesValue(first.option)) return { mistake: setValue(first, word.slice(2)) };
  setFlag(first);
  return takeOption(`-${word.slice(2)}`, next, find);
}

function takeNext(
  found: Found,
  next: string | undefined,
  find: (name: string) => Found | undefined,
): Taken {
  const { option, key, given } = found;
  if (!takesValue(option)) {
    setFlag(found);
    return {};
  }
  if (option.kind === "optional") {
    if (next !== undefined && !isOption(next)) {
      return { usesNext: true, mistake: setValue(found, next) };
    }
    given[key] = option.preset ?? true;
    return {};
  }
  // Whoever means such a text writes `--name=text`.
  const isMissing = next === undefined || next === END_OF_OPTIONS || find(next) !== undefined;
  if (isMissing) return { mistake: { kind: "missing-value", option } };
  return { usesNext: true, mistake: setValue(found, next) };
}

function setFlag({ option, key, given }: Found): void {
  given[key] = option.kind !== "denial";
}

function setValue({ option, key, given }: Found, text: string): LineMistake | undefined {
  if (!takesValue(option)) return { kind: "needless-value", option };
  const { choices, read } = option;
  if (choices !== undefined && !choices.includes(text))
    return { kind: "wrong-value", option, text };
  const result = read === undefined ? { value: text } : read(text);
  if (!("value" in result)) return { kind: "wrong-value", option, text, ...result };
  const earlier = given[key];
  given[key] =
    option.kind === "list" && Array.isArray(earlier)
      ? [...(earlier as unknown[]), result.value]
      : result.value;
  return undefined;
}

/** What is to be done about a line. Help comes before whatever is wrong. */
async function meaningOf(line: Line): Promise<Meaning> {
  const { command, globals, options, behind } = line;
  const { server } = command;
  const { words, typed } =
    server === undefined
      ? { words: line.words }
      : takeServer(server, line.words, behind, line.options);
  if (globals["help"] === true) {
    const { help } = command;
    if (help === undefined || words.length === 0) return { kind: "help", path: line.path };
    const run: Prepared["run"] = (context) => help.run(words, context);
    return { kind: "prepared", request: { words }, traits: {}, run, typed };
  }
  if (line.mistake !== undefined) return line.mistake;
  if (globals["version"] === true) return { kind: "version" };
  if (command.read === undefined) return { kind: "incomplete" };
  const conflict = conflictIn(line);
  if (conflict !== undefined) return conflict;
  if (behind !== undefined && server?.noProgram !== undefined) return new Mistake(server.noProgram);
  const fitted = fitWords(command, words, typed);
  if ("kind" in fitted) return fitted;
  const meaning = await command.read({ words: fitted, options, typed, behind });
  if (meaning.kind === "help") return findHelp(meaning);
  return meaning.kind === "prepared" ? { ...meaning, typed } : meaning;
}

async function findHelp({ words, codes }: HelpWanted): Promise<Meaning> {
  const path = [PLUGBOARD];
  for (const word of words) {
    const found = await findCommand(word, path.at(-1) ?? PLUGBOARD);
    if (found === undefined) {
      return { kind: "unknown-command", word, path, ...(path.length === 1 && { codes }) };
    }
    path.push(found);
  }
  return { kind: "help", path };
}

function conflictIn({ command, options: given }: Line): LineMistake | undefined {
  const isGiven = (key: string): boolean => given[key] !== undefined && given[key] !== false;
  for (const [key, option] of Object.entries(command.options)) {
    const other = isGiven(key) ? option.without?.find(isGiven) : undefined;
    const against = other === undefined ? undefined : command.options[other];
    if (against !== undefined) return { kind: "conflict", option, other: against };
  }
  return undefined;
}

/** A word for each argument, as a command gets them. */
function fitWords(
  { args }: Command,
  words: readonly string[],
  typed: TypedServer | undefined,
): (string | undefined)[] | LineMistake {
  const fitted: (string | undefined)[] = [];
  let at = 0;
  let wrong: LineMistake | undefined;
  for (const argument of args) {
    const { kind, isServer, choices } = argument;
    const isSeveral = kind === "some" || kind === "any";
    if (isServer && typed !== undefined) {
      if (!isSeveral) fitted.push(undefined);
      // Whoever uses the server says that none is typed. The word was meant to name it.
      if (!hasServer(typed)) at = isSeveral ? words.length : Math.min(at + 1, words.length);
      continue;
    }
    const text = words[at];
    if (text === undefined && (kind === "one" || kind === "some")) {
      return { kind: "missing-argument", argument, typed };
    }
    if (text !== undefined && choices !== undefined && !choices.includes(text)) {
      wrong ??= { kind: "wrong-argument", argument, text };
    }
    fitted.push(...(isSeveral ? words.slice(at) : [text]));
    at = isSeveral ? words.length : at + 1;
  }
  return at < words.length ? { kind: "too-many", words, from: at } : (wrong ?? fitted);
}
