// `plugboard generate-cli` on the command line.

import { command } from "../command.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";

export interface GenerateCliRequest {
  /** Absent if a server is typed. */
  server?: string;
  /** The file to write. Default: the name of the server with `.mjs`. */
  output?: string;
  refresh: boolean;
}

const NOTES = `
Writes one file with a command for each tool, and options for what the tool
takes. It runs with node where Plugboard is installed, and nothing in it is
secret: what is, it reads from variables.`;

export const COMMANDS = [
  command({
    name: "generate-cli",
    about: "write a command line for one server, as a single file",
    args: [
      {
        kind: "one",
        name: "server",
        about: "a configured server",
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
        about: "the file; by default the server's name with .mjs",
        offers: "file",
      },
      refresh: {
        kind: "flag",
        name: "--refresh",
        about: "ask the server instead of using the cache",
      },
    },
    server: {},
    tooMuch: "it takes one server",
    notes: NOTES,
    examples: [
      "plugboard generate-cli files",
      "plugboard generate-cli files --output bin/files.mjs",
      "plugboard generate-cli -- npx -y @modelcontextprotocol/server-everything",
      "./files.mjs read-text-file --path notes.txt",
    ],
    read: ([server], { output, refresh }, { typed }): GenerateCliRequest => ({
      refresh: refresh || typed !== undefined,
      ...(server !== undefined && { server }),
      ...(output && { output }),
    }),
    run: async (request, context) =>
      (await import("./generate-cli.ts")).runGenerateCli(request, context),
  }),
];
