// `plugboard tools` on the command line.

import { type Command as Parser, InvalidArgumentError, Option } from "commander";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";

export interface ToolsCommand {
  kind: "tools";
  /** A tool or a server, or words that say what a tool should do. */
  query: string[];
  /** How many tools to list at most. */
  limit?: number;
  server?: string;
  refresh: boolean;
  /** List the parameters too. */
  long: boolean;
  /** List the tools too that servers keep for their own apps. */
  all: boolean;
}

const HELP = `
Say what the tool should do, and the best comes first. The name of a server
lists its tools, and server/tool explains one. Tools known from an earlier run
are listed without starting their server.

Examples:
  plugboard tools read a file
  plugboard tools demo/convert_time
  plugboard tools -- npx -y @modelcontextprotocol/server-everything`;

interface Options extends TypedOptions {
  server?: string;
  refresh?: true;
  long?: true;
  all?: true;
  limit?: number;
  schema?: true;
}

export function describeTools(
  program: Parser,
  choose: (command: ToolsCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  takesServer(program.command("tools"), "[query...]")
    .description("list or search tools")
    .argument("[query...]", "what a tool should do, or the name of a server or a tool")
    .option("--server <server>", "only this server; no other is started")
    .option("--refresh", "ask the servers instead of using the cache")
    .option("--limit <count>", "list at most this many; default 20 with a query", toCount)
    .option("-l, --long", "show the parameters too")
    .option("-a, --all", "also list tools for the servers' own apps")
    .addOption(new Option("--schema").hideHelp())
    .addHelpText("after", HELP)
    .action((given: string[], options: Options) => {
      const { server, refresh, long, all, limit, schema } = options;
      const { words: query, typed } = takeServer(given, behind, options);
      const command: ToolsCommand = {
        kind: "tools",
        query,
        server,
        // Whoever types a server wants to know what it has now: it may have been edited a moment ago.
        refresh: refresh === true || typed !== undefined,
        long: long === true || schema === true,
        all: all === true,
        ...(limit !== undefined && { limit }),
      };
      choose(command, typed);
    });
}

function toCount(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("Expected a whole number from 1 on.");
}
