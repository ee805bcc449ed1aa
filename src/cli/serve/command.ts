// `plugboard serve` on the command line.

import { command } from "../command.ts";

export interface ServeRequest {
  /** The client gets a search for tools in place of the tools. */
  search?: boolean;
  /** The session of `plugboard acp -- …` whose board is served, in place of the configuration's. */
  session?: string;
}

const NOTES = `
An MCP client starts this command and talks to it on stdin and stdout. It sees
the tools, resources and prompts of all your servers as those of one, under
your rules. docs/clients.md has the entry for each client.

With --search it gets four tools, which find and call all others. That keeps
prompts small. See docs/search.md.`;

export const COMMANDS = [
  command({
    name: "serve",
    about: "run as one MCP server, for an MCP client",
    options: {
      search: {
        kind: "flag",
        name: "--search",
        about: "give the client a search for tools in place of the tools",
      },
      session: {
        kind: "value",
        name: "--session",
        value: "session",
        about: "serve one session of plugboard acp -- …, whose agent starts this",
      },
    },
    notes: NOTES,
    examples: ["plugboard serve", "claude mcp add --scope user board -- plugboard serve"],
    traits: { speaksOnStdio: true, logs: ["state", "visits"] },
    read: (_, { search, session }): ServeRequest => ({ search, session }),
    run: async (request, context) => (await import("./serve.ts")).runServe(request, context),
  }),
];
