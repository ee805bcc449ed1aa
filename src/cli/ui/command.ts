// `plugboard ui` on the command line.

import { command } from "../command.ts";

export interface UiRequest {
  /** Print the link, and open nothing. */
  print?: true;
  /** The link is for somebody who only looks. */
  viewer?: true;
}

const NOTES = `
The page shows the servers of the running gateway, the calls as they happen, and
what waits for you. There you answer it, call tools, and add, change and stop
servers.

The link works once, within a minute. Whoever opens it stays signed in for 12
hours. A viewer changes nothing, and sees no arguments, no command lines and
nothing that servers write to stderr.`;

export const COMMANDS = [
  command({
    name: "ui",
    about: "open the page of the running gateway in your browser",
    options: {
      print: { kind: "flag", name: "--print", about: "print the link in place of opening it" },
      viewer: { kind: "flag", name: "--viewer", about: "make a link for somebody who only looks" },
    },
    notes: NOTES,
    examples: ["plugboard ui", "plugboard ui --print --viewer"],
    read: (_, { print, viewer }): UiRequest => ({
      ...(print && { print }),
      ...(viewer && { viewer }),
    }),
    run: async (request, context) => (await import("./ui.ts")).runUi(request, context),
  }),
];
