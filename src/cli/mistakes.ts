// The words for what is wrong with a command line: one sentence, and a hint at what to do.

import { closest } from "../util/closest.ts";
import type { Argument, Command } from "./command.ts";
import { flagsOf } from "./option.ts";
import type { Line, LineMistake } from "./command-line.ts";
import { loadCommands, PLUGBOARD } from "./commands.ts";
import { commandsApart } from "./offered-command.ts";
import { hintAtCommand, hintAtServer } from "./typed/mistyped.ts";
import { hasServer } from "./typed-server.ts";

interface Explained {
  message: string;
  hint: string;
}

export async function explain(mistake: LineMistake, line: Line): Promise<Explained> {
  const message = await messageOf(mistake, line);
  const { command } = line;
  const own = ownHint(mistake, command);
  const meant = command.server && hintAtServer(command.name, line.rest);
  const hint = own ?? (meant && withCommandApart(meant)) ?? usageHint(mistake, line);
  return { message, hint };
}

async function messageOf(mistake: LineMistake, { command, path }: Line): Promise<string> {
  switch (mistake.kind) {
    case "unknown-command":
      return unknownCommand(mistake);
    case "unknown-option": {
      const known = [command, ...path].flatMap((each) => Object.values(each.options));
      const names = known.filter((each) => each.isHidden !== true).map(({ name }) => name);
      const meant = mistake.word.startsWith("--") ? closest(mistake.word, names) : undefined;
      return `unknown option '${mistake.word}'${didYouMean(meant)}`;
    }
    case "missing-value":
      return `option '${flagsOf(mistake.option)}' needs a value`;
    case "needless-value":
      return `option '${flagsOf(mistake.option)}' takes no value`;
    case "wrong-value": {
      const { option, text, expected } = mistake;
      return `option '${flagsOf(option)}' cannot be '${text}'; ${expectation(option, text, expected)}`;
    }
    case "conflict":
      return `option '${flagsOf(mistake.option)}' cannot be used with option '${flagsOf(mistake.other)}'`;
    case "missing-argument":
      return `missing required argument '${mistake.argument.name}'`;
    case "wrong-argument": {
      const { argument, text } = mistake;
      return `${argument.name} cannot be '${text}'; ${expectation(argument, text)}`;
    }
    case "too-many": {
      const { words, from } = mistake;
      if (command.tooMuch !== undefined)
        return `'${words[from]}' is one word too many: ${command.tooMuch}`;
      const expected = `${from} argument${from === 1 ? "" : "s"}`;
      return `too many arguments for '${command.name}'; expected ${expected} but got ${words.length}`;
    }
    case "mistake":
      return mistake.message;
  }
}

function ownHint(mistake: LineMistake, command: Command): string | undefined {
  switch (mistake.kind) {
    case "wrong-value":
      return mistake.option.hint;
    case "missing-argument":
      return mistake.typed && hasServer(mistake.typed)
        ? command.missing?.(mistake.typed)
        : undefined;
    case "unknown-command": {
      const { word, others, path } = mistake;
      if (path.length > 1 || others === undefined) return undefined;
      const meant = hintAtCommand([word, ...others]);
      return meant === undefined ? undefined : withCommandApart(meant);
    }
    default:
      return undefined;
  }
}

/** Where to read how it is done. */
function usageHint(mistake: LineMistake, line: Line): string {
  const isOfAll = "option" in mistake && Object.values(PLUGBOARD.options).includes(mistake.option);
  const path = isOfAll ? [PLUGBOARD] : "path" in mistake ? mistake.path : line.path;
  const words = path.map(({ name }) => name).join(" ");
  return path.at(-1)?.hint ?? `to see how to use it: ${words} --help`;
}

/** The command at its end on a line of its own. */
function withCommandApart(hint: string): string {
  return commandsApart(hint, {}).join("\n");
}

/** What other programs for MCP servers call a command of ours. */
const CALLED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["delete", "remove"],
  ["uninstall", "remove"],
  ["install", "add"],
  ["show", "get"],
  ["search", "registry"],
  ["find", "tools"],
  ["auth", "login"],
  ["servers", "status"],
  ["stop", "down"],
  ["start", "up"],
  ["daemon", "up"],
  ["inspect", "status"],
  ["emit-ts", "types"],
]);

async function unknownCommand({
  word,
  path,
  others = [],
  codes = [],
}: UnknownCommand): Promise<string> {
  const [next = ""] = others;
  const own = path.length === 1 ? await loadCommands() : (path.at(-1)?.commands ?? []);
  const names = [...own.map(({ name }) => name), ...codes];
  // `claude mcp add`, `mcporter config add`
  const elsewhere = ["mcp", "config"].includes(word) ? next : CALLED_ELSEWHERE.get(word);
  const isOurs = elsewhere !== undefined && names.includes(elsewhere);
  const meant = isOurs ? elsewhere : closest(word, names);
  const what = codes.length === 0 ? "command" : "command or error code";
  return `unknown ${what} '${word}'${didYouMean(meant)}`;
}

type UnknownCommand = Extract<LineMistake, { kind: "unknown-command" }>;

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? "" : `; did you mean '${meant}'?`;
}

function expectation(
  { choices = [] }: Pick<Argument, "choices">,
  text: string,
  expected = listed(choices),
): string {
  return `expected ${expected}${didYouMean(closest(text, choices))}`;
}

function listed(choices: readonly string[]): string {
  const others = choices.slice(0, -1).join(", ");
  const last = choices.at(-1) ?? "";
  return others === "" ? last : `${others} or ${last}`;
}
