// `plugboard up` on the command line.

import { type Command as Parser, InvalidArgumentError, Option } from "commander";

export interface UpCommand {
  kind: "up";
  host?: string;
  port?: number;
  /** Clients get a search for tools in place of the tools. */
  search?: true;
  /** A command has started it: no port, a log in a file, and it ends when nobody uses it. */
  background?: true;
  /** The pipe by which the gateway tells that command that it is ready. */
  readyFd?: number;
}

const HELP = `
Serves the board over HTTP to any number of MCP clients, until you stop it:
  http://127.0.0.1:7584/mcp              the default agent, or that of --agent
  http://127.0.0.1:7584/agents/<id>/mcp  an agent of the configuration

Every request needs a token. The first start makes one and says where it is;
plugboard tokens makes further ones, each with its own agents and rules.
For example, in Claude Code:
  claude mcp add --transport http board http://127.0.0.1:7584/mcp \\
    --header "Authorization: Bearer $(cat ~/.plugboard/gateway/token)"
docs/clients.md has the entries for other clients, docs/gateway.md the settings
and how to run it as a service.

With --search a client gets four tools in place of all, with which it finds and
calls the others: see plugboard serve --help and docs/search.md.

Stopped with SIGTERM or Ctrl-C, it lets calls in flight finish for 10 seconds and
exits with 0; a second signal ends it at once. Clients go on with their sessions
when it runs again.

While it runs, your other commands with the same configuration use its servers
instead of starting their own: call, tools, acp, serve and the rest. --standalone
keeps a command from that. plugboard status shows the servers, the clients and
the commands that are attached; plugboard down stops the gateway. An edit of the
configuration applies while it runs: see plugboard reload --help.

You do not need plugboard up to keep a server, such as a browser, from one
plugboard call to the next: set "keepAlive": true for it in the configuration.`;

export function describeUp(program: Parser, choose: (command: UpCommand) => void): void {
  program
    .command("up")
    .description("run the gateway: the board over HTTP, for any MCP client")
    .option("--host <address>", "listen on this address, by default 127.0.0.1")
    .option("--port <port>", "listen on this port, by default 7584; 0 picks a free one", readPort)
    .option("--search", "give clients a search for tools in place of the tools")
    .addOption(new Option("--background").hideHelp())
    .addOption(new Option("--ready-fd <fd>").hideHelp().argParser(Number))
    .addHelpText("after", HELP)
    .action((options: Omit<UpCommand, "kind">) => {
      const { host, port, search, background, readyFd } = options;
      const started = background && { background, readyFd };
      choose({ kind: "up", host, port, ...(search && { search }), ...started });
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("Expected a number from 0 to 65535.");
}
