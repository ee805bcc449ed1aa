// `plugboard tools` on the command line.

import { type Command as Parser, Option } from "commander";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";

export interface ToolsCommand {
  kind: "tools";
  /** Words that must all be found. */
  query: string[];
  server?: string;
  refresh: boolean;
  /** List the parameters too. */
  long: boolean;
  /** List the tools too that servers keep for their own apps. */
  all: boolean;
}

const HELP = `
Tools known from an earlier run are listed from the cache, without starting
their server.

Examples:
  plugboard tools time
  plugboard tools -- npx -y some-server
  plugboard tools https://example.com/mcp`;

interface Options extends TypedOptions {
  server?: string;
  refresh?: true;
  long?: true;
  all?: true;
  schema?: true;
}

export function describeTools(
  program: Parser,
  choose: (command: ToolsCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  takesServer(program.command("tools"), "[query...]")
    .description("list the tools of all servers, or search them")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only tools of this server")
    .option("--refresh", "ask the servers instead of using the cache")
    .option("-l, --long", "show the parameters too")
    .option("-a, --all", "list tools for the servers' own apps too")
    .addOption(new Option("--schema").hideHelp())
    .addHelpText("after", HELP)
    .action((given: string[], options: Options) => {
      const { server, refresh, long, all, schema } = options;
      const { words: query, typed } = takeServer(given, behind, options);
      const command: ToolsCommand = {
        kind: "tools",
        query,
        server,
        // Whoever types a server wants to know what it has now: it may have been edited a moment ago.
        refresh: refresh === true || typed !== undefined,
        long: long === true || schema === true,
        all: all === true,
      };
      choose(command, typed);
    });
}
