// Turns the commands into the grammar that completion reads. The build writes it to a file.

import type { Argument, Command } from "./command.ts";
import { type Offers, type Option, takesValue, type Values } from "./option.ts";
import { loadCommands, PLUGBOARD } from "./commands.ts";
import type { ArgumentGrammar, CommandGrammar, OptionGrammar } from "./completion/grammar.ts";
import { CONNECTED } from "../install/applications/applications.ts";
import { shownOptions } from "./help/command-page.ts";

export async function describeGrammar(): Promise<CommandGrammar> {
  return grammarOf({ ...PLUGBOARD, commands: await loadCommands() });
}

function grammarOf(command: Command): CommandGrammar {
  const { name, aliases, about, args, commands, takesProgram, server } = command;
  return {
    name,
    aliases,
    about,
    options: shownOptions(command).map(optionGrammar),
    args: args.map(argumentGrammar),
    commands: commands.map(grammarOf),
    takesProgram: takesProgram ?? (server !== undefined && server.noProgram === undefined),
  };
}

function optionGrammar(option: Option): OptionGrammar {
  const { name, short, about } = option;
  const names = short === undefined ? [name] : [name, short];
  if (!takesValue(option)) return { names, about };
  const values = option.choices ?? valuesOf(option.offers);
  return { names, about, values, ...(option.kind === "optional" && { isOptional: true }) };
}

function argumentGrammar({ kind, choices, offers }: Argument): ArgumentGrammar {
  return { values: choices ?? valuesOf(offers), isVariadic: kind === "some" || kind === "any" };
}

function valuesOf(offers: Offers = "own"): Values {
  return offers === "application" ? CONNECTED.map(({ id }) => id) : offers;
}
