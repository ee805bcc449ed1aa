// `plugboard status` on the command line.

import { command } from "../command.ts";

export const COMMANDS = [
  command({
    name: "status",
    about: "show the state of your servers in detail",
    args: [
      {
        kind: "maybe",
        name: "server",
        about: "show everything about this server",
        offers: "server",
      },
    ],
    examples: ["plugboard status", "plugboard status files"],
    read: ([server]) => ({ server }),
    run: async ({ server }, context) => (await import("./status.ts")).runStatus(server, context),
  }),
];
