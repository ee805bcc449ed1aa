// `plugboard tools` on the command line.

import { type Command as Parser, Option } from "commander";

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
their server.`;

interface Options {
  server?: string;
  refresh?: true;
  long?: true;
  all?: true;
  schema?: true;
}

export function describeTools(program: Parser, choose: (command: ToolsCommand) => void): void {
  program
    .command("tools")
    .description("list the tools of all servers, or search them")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only tools of this server")
    .option("--refresh", "ask the servers instead of using the cache")
    .option("-l, --long", "show the parameters too")
    .option("-a, --all", "list tools for the servers' own apps too")
    .addOption(new Option("--schema").hideHelp())
    .addHelpText("after", HELP)
    .action((query: string[], { server, refresh, long, all, schema }: Options) =>
      choose({
        kind: "tools",
        query,
        server,
        refresh: refresh === true,
        long: long === true || schema === true,
        all: all === true,
      }),
    );
}
