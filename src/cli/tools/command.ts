// `plugboard tools` on the command line.

import { command } from "../command.ts";
import { ONLY_SERVER, wholeNumber } from "../shared-options.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";

export interface ToolsRequest {
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

const NOTES = `
Say what the tool should do, and the best comes first. The name of a server
lists its tools, and server/tool explains one. Tools known from an earlier run
are listed without starting their server.`;

export const COMMANDS = [
  command({
    name: "tools",
    about: "list or search tools",
    args: [
      {
        kind: "any",
        name: "query",
        about: "what a tool should do, or the name of a server or a tool",
        offers: "target",
      },
    ],
    options: {
      ...SERVER_OPTIONS,
      server: ONLY_SERVER,
      refresh: {
        kind: "flag",
        name: "--refresh",
        about: "ask the servers instead of using the cache",
      },
      limit: {
        kind: "value",
        name: "--limit",
        value: "count",
        about: "list at most this many; default 20 with a query",
        read: wholeNumber(1, 999_999_999, "a whole number from 1 on"),
      },
      long: { kind: "flag", name: "--long", short: "-l", about: "show the parameters too" },
      all: {
        kind: "flag",
        name: "--all",
        short: "-a",
        about: "also list tools for the servers' own apps",
      },
      schema: {
        kind: "flag",
        name: "--schema",
        about: "the same as --long, as mcporter calls it",
        isHidden: true,
      },
    },
    server: {},
    notes: NOTES,
    examples: [
      "plugboard tools read a file",
      "plugboard tools files/read_text_file",
      "plugboard tools -- npx -y @modelcontextprotocol/server-everything",
    ],
    read: (query, { server, refresh, long, all, limit, schema }, { typed }): ToolsRequest => ({
      query,
      server,
      // Whoever types a server wants to know what it has now: it may have been edited a moment ago.
      refresh: refresh || typed !== undefined,
      long: long || schema,
      all,
      limit,
    }),
    run: async (request, context) => (await import("./tools.ts")).runTools(request, context),
  }),
];
