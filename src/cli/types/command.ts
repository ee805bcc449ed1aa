// `plugboard types` on the command line.

import { command } from "../command.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";

export interface TypesRequest {
  /** Only these. Empty: all. */
  servers: string[];
  /** The file to write. Default: stdout. */
  output?: string;
  refresh: boolean;
}

const NOTES = `
A TypeScript program that includes the file gets its calls checked, by
server/tool and by public name:

  const { structuredContent } = await board.call("files/read_text_file", {
    path: "notes.txt",
  });`;

export const COMMANDS = [
  command({
    name: "types",
    about: "print TypeScript declarations of the tools",
    args: [
      {
        kind: "any",
        name: "server",
        about: "only tools of these servers",
        isServer: true,
        offers: "server",
      },
    ],
    options: {
      ...SERVER_OPTIONS,
      output: {
        kind: "value",
        name: "--output",
        short: "-o",
        value: "file",
        about: "write them to this file",
        offers: "file",
      },
      refresh: {
        kind: "flag",
        name: "--refresh",
        about: "ask the servers instead of using the cache",
      },
    },
    server: {},
    tooMuch: "the server that you typed is the only one",
    notes: NOTES,
    examples: [
      "plugboard types > tools.d.ts",
      "plugboard types files --output src/tools.d.ts",
      "plugboard types -- npx -y @modelcontextprotocol/server-everything",
    ],
    read: (servers, { output, refresh }, { typed }): TypesRequest => ({
      servers,
      refresh: refresh || typed !== undefined,
      ...(output && { output }),
    }),
    run: async (request, context) => (await import("./types.ts")).runTypes(request, context),
  }),
];
