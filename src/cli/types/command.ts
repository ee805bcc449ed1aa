// `plugboard types` on the command line.

import type { Command as Parser } from "commander";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";

export interface TypesCommand {
  kind: "types";
  /** Only these. Empty: all. */
  servers: string[];
  /** The file to write. Default: stdout. */
  output?: string;
  refresh: boolean;
}

const HELP = `
A TypeScript program that includes the file gets its calls checked, by
server/tool and by public name:

  const { structuredContent } = await board.call("files/read_text_file", {
    path: "notes.txt",
  });

Examples:
  plugboard types > tools.d.ts
  plugboard types files --output src/tools.d.ts
  plugboard types -- npx -y some-server`;

interface Options extends TypedOptions {
  output?: string;
  refresh?: true;
}

export function describeTypes(
  program: Parser,
  choose: (command: TypesCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const types = takesServer(program.command("types"), "[server...]", "")
    .description("print TypeScript declarations of the tools")
    .argument("[server...]", "only tools of these servers")
    .option("-o, --output <file>", "write them to this file")
    .option("--refresh", "ask the servers instead of using the cache")
    .addHelpText("after", HELP)
    .action((given: string[], options: Options) => {
      const { output, refresh } = options;
      const { words: servers, typed } = takeServer(given, behind, options);
      const [extra] = servers;
      if (typed !== undefined && extra !== undefined) {
        types.error(`error: '${extra}' is too much: a server is typed, and it is the only one`);
      }
      const isFresh = refresh === true || typed !== undefined;
      choose({ kind: "types", servers, refresh: isFresh, ...(output && { output }) }, typed);
    });
}
