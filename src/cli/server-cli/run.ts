// What a generated command line does: shows its help, or calls a tool of its server as `plugboard call` does.

import { assembleArguments } from "../../core/tools/arguments/assemble.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { shellWord } from "../../util/text.ts";
import { runGivenCall } from "../call/call.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { readArguments } from "../read-arguments.ts";
import { type EmbeddedServer, wordsFor } from "./embedded.ts";
import { commandsHelp, toolHelp, toolRows } from "./help.ts";
import type { ReadWords } from "./read-words.ts";

export interface ServerCliRequest extends ReadWords {
  embedded: EmbeddedServer;
  /** How it is called. */
  program: string;
}

export async function runServerCommand(
  { action, options, embedded, program }: ServerCliRequest,
  context: CliContext,
): Promise<number> {
  const { screen } = context;
  const { out } = screen.terminal;
  const { tools } = embedded;
  switch (action.kind) {
    case "wrong":
      throw action.error;
    case "help":
      screen.lines(commandsHelp(embedded, program, out));
      return EXIT.ok;
    case "list":
      if (context.options.json) screen.json({ server: embedded.name, tools });
      else screen.lines(toolRows(tools, out));
      return EXIT.ok;
    case "tool-help":
      if (context.options.json) screen.json(action.tool);
      else screen.lines(toolHelp(action.tool, tools, program, out));
      return EXIT.ok;
    case "call": {
      const { tool, pairs, words } = action;
      const read = await readArguments(words, context);
      const given = { ...read, pairs: [...read.pairs, ...pairs] };
      const command = wordsFor(tools.map(({ name }) => name)).get(tool.name) ?? tool.name;
      const hint = `to see what it takes: ${program} ${shellWord(command)} --help`;
      const { problem } = assembleArguments(given, tool.parameters, hint);
      if (problem !== undefined) throw problem;
      const { yes, timeout, output } = options;
      const call = { tool: tool.name, args: words, yes, timeout, output };
      try {
        return await runGivenCall(call, given, context);
      } catch (error) {
        if (!(error instanceof PlugboardError) || error.code !== "UNKNOWN_TOOL") throw error;
        const again = `plugboard generate-cli ${shellWord(embedded.name)}`;
        throw new PlugboardError(error.code, error.message, {
          hint: `the server has changed since this command line was generated; again: ${again}`,
        });
      }
    }
  }
}
