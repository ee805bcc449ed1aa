// `plugboard up` on the command line.

import { command } from "../command.ts";
import { wholeNumber } from "../shared-options.ts";

export interface UpRequest {
  host?: string;
  port?: number;
  /** The one server that it runs for other gateways. */
  only?: string;
  /** Clients get a search for tools in place of the tools. */
  search?: boolean;
  /** Start it in the background, and end. */
  detach?: true;
  /** It was started in the background by `up -d`: a log in a file. */
  detached?: true;
  /** A command has started it: no port, a log in a file, and it ends when nobody uses it. */
  background?: true;
  /** The pipe by which the gateway tells that command that it is ready. */
  readyFd?: number;
}

const NOTES = `
Serves the board over HTTP until you stop it: at http://127.0.0.1:7584/mcp, and
at /agents/<id>/mcp for each agent. Every request needs a token. The first
start makes one and says where it is; plugboard tokens makes more.
docs/clients.md has the entry for each client, docs/gateway.md the settings.

While it runs, your other commands with the same configuration use its servers,
unless you give --standalone. On SIGTERM or Ctrl-C, calls have 30 seconds to
end. With --only, it serves one server under its tools' own names to other
gateways: docs/fleet.md says when.`;

const PORT = wholeNumber(0, 65_535, "a number from 0 to 65535");

export const COMMANDS = [
  command({
    name: "up",
    about: "run the gateway: MCP over HTTP, for any client",
    options: {
      host: {
        kind: "value",
        name: "--host",
        value: "address",
        about: "listen on this address, by default 127.0.0.1",
      },
      port: {
        kind: "value",
        name: "--port",
        value: "port",
        about: "listen on this port, by default 7584; 0 picks a free one",
        read: PORT,
      },
      search: {
        kind: "flag",
        name: "--search",
        about: "give clients a search for tools in place of the tools",
      },
      only: {
        kind: "value",
        name: "--only",
        value: "server",
        about: "run this one server for all other gateways, as its worker",
        offers: "server",
      },
      detach: {
        kind: "flag",
        name: "--detach",
        short: "-d",
        about: "run it in the background, until plugboard down",
      },
      detached: {
        kind: "flag",
        name: "--detached",
        about: "run in the background, for up -d",
        isHidden: true,
      },
      background: {
        kind: "flag",
        name: "--background",
        about: "run in the background, for servers that are kept alive",
        isHidden: true,
      },
      readyFd: {
        kind: "value",
        name: "--ready-fd",
        value: "fd",
        about: "the file descriptor to write to when it is ready",
        read: (text: string) => ({ value: Number(text) }),
        isHidden: true,
      },
    },
    notes: NOTES,
    examples: [
      "plugboard up",
      "plugboard up -d",
      "plugboard up --port 0 --search",
      "plugboard up --only memory",
    ],
    read: (_, { host, port, search, only, detach, detached, background, readyFd }): UpRequest => ({
      host,
      port,
      search,
      ...(only !== undefined && { only }),
      ...(detach && { detach }),
      ...(detached && { detached, readyFd }),
      ...(background && { background, readyFd }),
    }),
    traits: ({ detach }) => ({
      isEndless: detach !== true,
      logs: ["state", "visits"],
      stops: "the gateway",
    }),
    run: async (request, context) => (await import("./up.ts")).runUp(request, context),
  }),
];
