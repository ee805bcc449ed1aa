// `plugboard logs` on the command line.

import { command } from "../command.ts";

export interface LogsRequest {
  /** Absent: those of all servers. */
  server?: string;
  follow: boolean;
}

const NOTES = `
Shows what the servers of the running gateway write to stderr, their log
messages, and how they started and failed: the last thousand lines. Without a
gateway, servers end with the command that has started them: --verbose shows
what they write.`;

export const COMMANDS = [
  command({
    name: "logs",
    about: "show what your servers write, while a gateway runs",
    args: [{ kind: "maybe", name: "server", about: "only this server", offers: "server" }],
    options: {
      follow: {
        kind: "flag",
        name: "--follow",
        short: "-f",
        about: "keep printing new lines as they come",
      },
    },
    notes: NOTES,
    examples: ["plugboard logs", "plugboard logs files -f"],
    read: ([server], { follow }): LogsRequest => ({
      ...(server !== undefined && { server }),
      follow,
    }),
    traits: ({ follow }) => ({ printsLines: true, isEndless: follow }),
    run: async (request, context) => (await import("./logs.ts")).runLogs(request, context),
  }),
];
