// `plugboard read`: reads one resource; its text goes to stdout, its binary content to files.

import type { ResourceReading } from "../../../model/resource.ts";
import type { CallOutcome } from "../../../model/tool.ts";
import { plainText } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { binaryOf, resultText } from "../call/result.ts";
import { ensureDirectory, saveBinary } from "../call/save.ts";
import { whileStarting } from "../status/starting.ts";
import type { ReadCommand } from "./command.ts";

export async function runRead(
  { uri, server, output }: ReadCommand,
  context: CliContext,
): Promise<number> {
  const { io, signal } = context;
  if (output !== undefined) await ensureDirectory(output, io.cwd);
  return withBoard(context, { start: "none", server }, async ({ board }) => {
    const reading = board.resources.read(uri, { server, signal });
    await print(await whileStarting(board, context, reading), output, context);
    return EXIT.ok;
  });
}

async function print(
  reading: ResourceReading,
  output: string | undefined,
  { screen, options, io }: CliContext,
): Promise<void> {
  const outcome: CallOutcome = {
    content: reading.contents.map((resource) => ({ type: "resource", resource })),
  };
  const saved =
    output === undefined
      ? undefined
      : await saveBinary(outcome, { directory: output, cwd: io.cwd, name: reading.uri });
  if (options.json) return screen.json(reading);
  const text = resultText(outcome, saved);
  screen.out(screen.terminal.out.isTerminal ? plainText(text) : text);
  if (output === undefined && outcome.content.some((block) => binaryOf(block) !== undefined)) {
    screen.note("hint: --output <directory> saves binary content");
  }
}
