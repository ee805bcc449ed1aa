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
An MCP client starts this command and talks to it on stdin and stdout. For
example, in Claude Code:
  claude mcp add --scope user board -- plugboard serve
docs/clients.md has the entries for other clients. Problems are logged on
stderr.

The client sees the tools, resources and prompts of all your servers as those of
one server. Every call goes through the rules of your configuration.

With --search the client gets four tools in place of all: search_tools and
describe_tool find a tool, call_tool calls it if a trusted server says that it
only reads, and call_changing_tool calls any other. That keeps the prompt small
in clients that cannot search themselves. See docs/search.md.

With --attach it serves the board of one session of "plugboard acp -- <agent>".
The agent starts it; there is no use for it elsewhere.`;

export function describeServe(program: Parser, choose: (command: ServeCommand) => void): void {
  program
    .command("serve")
    .description("run as one MCP server on stdio (started by an MCP client)")
    .option("--search", "give the client a search for tools in place of the tools")
    .option("--attach <session>", "serve the board of a session (started by its agent)")
    .addHelpText("after", HELP)
    .action(({ search, attach }: { search?: true; attach?: string }) =>
      choose({
        kind: "serve",
        ...(search && { search }),
        ...(attach !== undefined && { attach }),
      }),
    );
}
