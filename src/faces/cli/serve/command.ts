// `plugboard serve` on the command line.

import type { Command as Parser } from "commander";

export interface ServeCommand {
  kind: "serve";
  /** The client gets a search for tools in place of the tools. */
  search?: true;
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
in clients that cannot search themselves. See docs/search.md.`;

export function describeServe(program: Parser, choose: (command: ServeCommand) => void): void {
  program
    .command("serve")
    .description("run as one MCP server on stdio (started by an MCP client)")
    .option("--search", "give the client a search for tools in place of the tools")
    .addHelpText("after", HELP)
    .action(({ search }: { search?: true }) =>
      choose({ kind: "serve", ...(search && { search }) }),
    );
}
