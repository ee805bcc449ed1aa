// Makes the grammar from the descriptions of the commands, which are the only place where it is written.

import type { Argument, Command as Parser, Help, Option } from "commander";
import { commandTree } from "./command-line.ts";
import { CONNECTED } from "./connect/applications.ts";
import type {
  ArgumentGrammar,
  CommandGrammar,
  OptionGrammar,
  Values,
} from "./completion/grammar.ts";

const APPLICATIONS = CONNECTED.map(({ id }) => id);

/** By what the value is called in the usage of a command. */
const OF_ARGUMENTS: Readonly<Record<string, Values>> = {
  agent: "own",
  application: APPLICATIONS,
  arguments: "argument",
  args: "own",
  command: "command",
  file: "file",
  id: "own",
  json: "own",
  key: "own",
  more: "own",
  name: "own",
  pattern: "target",
  prompt: "own",
  query: "target",
  server: "server",
  servers: "server",
  target: "target",
  token: "own",
  tool: "tool",
  uri: "own",
  words: "own",
};

/** By what the value is called in the flags of an option. */
const OF_OPTIONS: Readonly<Record<string, Values>> = {
  "KEY=value": "own",
  "KEY[=value]": "own",
  address: "own",
  agent: "own",
  application: APPLICATIONS,
  count: "own",
  directory: "directory",
  file: "file",
  format: "file",
  header: "own",
  id: "agent",
  ms: "own",
  n: "own",
  name: "own",
  pattern: "tool",
  port: "own",
  "provider/model": "model",
  server: "server",
  session: "own",
  time: "own",
  type: "own",
  url: "own",
  when: "own",
  "ws-url": "own",
};

/** Throws for a value whose name is in neither of the tables above. */
export function describeGrammar(): CommandGrammar {
  const program = commandTree();
  return grammarOf(program, program.createHelp());
}

function grammarOf(command: Parser, help: Help): CommandGrammar {
  return {
    name: command.name(),
    aliases: command.aliases(),
    about: command.description(),
    options: help.visibleOptions(command).map(optionGrammar),
    args: command.registeredArguments.map(argumentGrammar),
    commands: help.visibleCommands(command).map((each) => grammarOf(each, help)),
    takesProgram: /[ []-- </.test(command.usage()),
  };
}

function optionGrammar(option: Option): OptionGrammar {
  const { short, long, flags, description, required, optional, argChoices } = option;
  const names = [long, short].filter((name) => name !== undefined);
  if (!required && !optional) return { names, about: description };
  const [, placeholder = ""] = /[<[](.*)[\]>]$/.exec(flags) ?? [];
  return {
    names,
    about: description,
    values: argChoices ?? known(OF_OPTIONS, placeholder, flags),
    ...(optional && { isOptional: true }),
  };
}

function argumentGrammar(argument: Argument): ArgumentGrammar {
  const { argChoices, variadic } = argument;
  const name = argument.name();
  return { values: argChoices ?? known(OF_ARGUMENTS, name, name), isVariadic: variadic };
}

function known(table: Readonly<Record<string, Values>>, name: string, place: string): Values {
  const found = table[name];
  if (found !== undefined) return found;
  throw new Error(
    `${place}: say in src/cli/describe-grammar.ts what the shell offers for '${name}'`,
  );
}
