// The way in for the files that `plugboard generate-cli` writes: each has one server in it, and runs this.

import { basename } from "node:path";
import { PlugboardError } from "../core/types/errors.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../util/json-depth.ts";
import { oneLine, shellWord } from "../util/text.ts";
import { globalOptions } from "./context.ts";
import { type CliIo, processIo } from "./io.ts";
import { runCli } from "./main.ts";
import { type EmbeddedServer, isEmbeddedServer } from "./server-cli/embedded.ts";
import { readWords } from "./server-cli/read-words.ts";
import type { ServerCliRequest } from "./server-cli/run.ts";

/**
 * `embedded` is what the file says about its server, `file` is where it is. Resolves to the exit code when nothing is left
 * running. Never rejects.
 */
export function runServerCli(
  embedded: unknown,
  argv: readonly string[],
  file: string,
  io: CliIo = ownIo(),
): Promise<number> {
  const program = shellWord(basename(file));
  const isSound = isEmbeddedServer(embedded) && !isDeeperThan(REFUSED_DEPTH, embedded);
  const known = isSound ? embedded : NOBODY;
  const { action, options } = readWords(argv, known, program);
  const { name, server } = known;
  const request: ServerCliRequest = {
    embedded: known,
    program,
    options,
    action: isSound ? action : { kind: "wrong", error: damaged(file) },
  };
  return runCli(argv, io, async () => ({
    kind: "run",
    name: "server-cli",
    request,
    traits: {},
    run: async (context) =>
      (await import("./server-cli/run.ts")).runServerCommand(request, context),
    options: globalOptions(options, { env: [], headers: [], embedded: { name, server } }),
  }));
}

function ownIo(): CliIo {
  // When the reader is gone, as after `| head`, the error needs a listener, or it would end the process.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
  return processIo();
}

const NOBODY: EmbeddedServer = { name: "", server: {}, tools: [] };

function damaged(file: string): PlugboardError {
  return new PlugboardError(
    "CONFIG_INVALID",
    `${oneLine(file)} is damaged: what it says about its server cannot be read`,
    { hint: "generate it again: plugboard generate-cli <server>" },
  );
}
