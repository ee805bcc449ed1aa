// The outermost command, and where the others are.

import { COMMANDS as CALL } from "./call/command.ts";
import { type Command, command, type CommandGroup } from "./command.ts";
import { GLOBAL_OPTIONS } from "./context.ts";
import { CHECK, REFRESH } from "./shared-options.ts";

/** The outermost command, which does something by itself, too. */
export const PLUGBOARD: Command = command({
  name: "plugboard",
  about: "Plug any MCP server into any agent. Without a command, shows your servers.",
  usage: ["[options] [command]"],
  hint: "for commands and options: plugboard --help",
  // `plugboard list` shows it.
  options: {
    ...GLOBAL_OPTIONS,
    check: { ...CHECK, isHidden: true },
    refresh: { ...REFRESH, isHidden: true },
  },
  examples: [
    "plugboard import --write",
    "plugboard connect claude-code",
    "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "plugboard tools read a file",
    "plugboard call files/read_text_file path=README.md",
    "plugboard tools -- npx -y @modelcontextprotocol/server-everything",
  ],
  read: (_, { check, refresh }) => ({ check, refresh }),
  run: async (request, context) =>
    (await import("./status/overview.ts")).runOverview(context, request),
});

/** The command of that name within another. For a call, nothing is loaded: that would take longer than the rest of it. */
export async function findCommand(word: string, within: Command): Promise<Command | undefined> {
  const isMeant = ({ name, aliases }: Command): boolean => name === word || aliases.includes(word);
  if (within !== PLUGBOARD) return within.commands.find(isMeant);
  return CALL.find(isMeant) ?? (await loadCommands()).find(isMeant);
}

/** The commands within `plugboard`. */
export async function loadCommands(): Promise<Command[]> {
  return (await loadGroups()).flatMap(({ commands }) => commands);
}

export async function loadGroups(): Promise<readonly CommandGroup[]> {
  return (await import("./command-groups.ts")).GROUPS;
}
