// `plugboard serve` on the command line.

import type { Command as Parser } from "commander";

export interface ServeCommand {
  kind: "serve";
}

const HELP = `
An MCP client starts this command and talks to it on stdin and stdout. For
example, in Claude Code:
  claude mcp add --scope user board -- plugboard serve
docs/clients.md has the entries for other clients. Problems are logged on
stderr.

The client sees the tools, resources and prompts of all your servers as those of
one server. Every call goes through the rules of your configuration.`;

export function describeServe(program: Parser, choose: (command: ServeCommand) => void): void {
  program
    .command("serve")
    .description("run as one MCP server on stdio (started by an MCP client)")
    .addHelpText("after", HELP)
    .action(() => choose({ kind: "serve" }));
}
