// `plugboard serve` on the command line.

import type { Command as Parser } from "commander";

export interface ServeCommand {
  kind: "serve";
  /** The client gets a search for tools in place of the tools. */
  search?: true;
  /** The session of `plugboard acp -- …` whose board is served, in place of the configuration's. */
  attach?: string;
}

const HELP = `
An MCP client starts this command and talks to it on stdin and stdout. It sees
the tools, resources and prompts of all your servers as those of one, under
your rules. docs/clients.md has the entry for each client.

With --search it gets four tools, which find and call all others. That keeps
prompts small. See docs/search.md.

Examples:
  plugboard serve
  claude mcp add --scope user board -- plugboard serve`;

export function describeServe(program: Parser, choose: (command: ServeCommand) => void): void {
  program
    .command("serve")
    .description("run as one MCP server, for an MCP client")
    .option("--search", "give the client a search for tools in place of the tools")
    .option(
      "--attach <session>",
      "serve one session of plugboard acp -- …, whose agent starts this",
    )
    .addHelpText("after", HELP)
    .action(({ search, attach }: { search?: true; attach?: string }) =>
      choose({
        kind: "serve",
        ...(search && { search }),
        ...(attach !== undefined && { attach }),
      }),
    );
}
