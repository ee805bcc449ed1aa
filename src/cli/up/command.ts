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
Serves the board over HTTP until you stop it: at http://127.0.0.1:7584/mcp, and
at /agents/<id>/mcp for each agent. Every request needs a token. The first
start makes one and says where it is; plugboard tokens makes more.
docs/clients.md has the entry for each client, docs/gateway.md the settings.

While it runs, your other commands with the same configuration use its servers,
unless you give --standalone. On SIGTERM or Ctrl-C, calls have 10 seconds to
end.

Examples:
  plugboard up
  plugboard up --port 0 --search`;

export function describeUp(program: Parser, choose: (command: UpCommand) => void): void {
  program
    .command("up")
    .description("run the gateway: MCP over HTTP, for any client")
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
