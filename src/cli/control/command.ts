// `plugboard restart` and `plugboard down` on the command line.

import { command } from "../command.ts";

export interface RestartRequest {
  server: string;
}

export const COMMANDS = [
  command({
    name: "restart",
    about: "restart a server of the running gateway",
    args: [
      { kind: "one", name: "server", about: "its name in the configuration", offers: "server" },
    ],
    examples: ["plugboard restart files"],
    read: ([server]): RestartRequest => ({ server }),
    run: async (request, context) => (await import("./control.ts")).runRestart(request, context),
  }),
  command({
    name: "down",
    about: "stop the running gateway and its servers",
    examples: ["plugboard down"],
    run: async (_, context) => (await import("./control.ts")).runDown(context),
  }),
];
