// `plugboard generate-cli` on the command line.

import type { Command as Parser } from "commander";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";

export interface GenerateCliCommand {
  kind: "generate-cli";
  /** Absent if a server is typed. */
  server?: string;
  /** The file to write. Default: the name of the server with `.mjs`. */
  output?: string;
  refresh: boolean;
}

const HELP = `
Writes one file with a command for each tool, and options for what the tool
takes. It runs with node where Plugboard is installed, and nothing in it is
secret: what is, it reads from variables.

Examples:
  plugboard generate-cli files
  plugboard generate-cli files --output bin/files.mjs
  plugboard generate-cli -- npx -y some-server
  ./files.mjs read-text-file --path notes.txt`;

interface Options extends TypedOptions {
  output?: string;
  refresh?: true;
}

export function describeGenerateCli(
  program: Parser,
  choose: (command: GenerateCliCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const generate = takesServer(program.command("generate-cli"), "<server>", "")
    .description("write a command line for one server, as a single file")
    .argument("[server...]", "a configured server")
    .option("-o, --output <file>", "the file; by default the server's name with .mjs")
    .option("--refresh", "ask the server instead of using the cache")
    .addHelpText("after", HELP)
    .action((given: string[], options: Options) => {
      const { output, refresh } = options;
      const { words, typed } = takeServer(given, behind, options);
      const [server, extra] = typed === undefined ? words : [undefined, ...words];
      if (extra !== undefined) {
        generate.error(`error: '${extra}' is too much: a command line is for one server`);
      }
      if (server === undefined && typed === undefined) {
        generate.error("error: missing required argument 'server'");
      }
      const isFresh = refresh === true || typed !== undefined;
      choose(
        {
          kind: "generate-cli",
          refresh: isFresh,
          ...(server !== undefined && { server }),
          ...(output && { output }),
        },
        typed,
      );
    });
}
