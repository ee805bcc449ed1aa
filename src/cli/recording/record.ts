// `plugboard record`: the messages between the board and one server, into a file.

import { resolve } from "node:path";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { traceServer } from "../trace/trace-server.ts";
import type { RecordRequest } from "./command.ts";
import { LONGEST_RECORDED, type RecordingCounts, RecordingWriter } from "./recording-file.ts";

export async function runRecord(command: RecordRequest, context: CliContext): Promise<number> {
  const { screen, options, io, clock } = context;
  const { file, force, server = "" } = command;
  const path = resolve(io.cwd, file);
  const recorded = new Date(clock.now()).toISOString();
  const writer = await RecordingWriter.open(path, { force, recorded });
  let exitCode: number;
  try {
    exitCode = await traceServer(command, context, {
      listener: (entry) => writer.add(entry),
      maxSize: LONGEST_RECORDED,
      onGateway: ({ pid }) => {
        screen.note(`Recording ${visible(server)} of the gateway (pid ${pid}). Ctrl-C ends it.`);
        screen.note("hint: to have its handshake and its lists in the recording:");
        screen.note(`  plugboard restart ${visible(server)}`);
      },
      onFollow: () => screen.note("Recording. Press Ctrl-C to end it."),
    });
  } finally {
    await writer.close();
  }
  if (options.json) screen.json({ file: path, ...writer.counts });
  else for (const line of summary(writer.counts, file)) screen.note(line);
  return exitCode;
}

function summary({ messages, cut, lost }: RecordingCounts, file: string): string[] {
  const name = visible(file);
  return [
    `recorded ${plural(messages, "message")} in ${name}`,
    ...(cut > 0 ? [`${plural(cut, "message")} of them too large to be recorded whole`] : []),
    ...(lost > 0 ? [`${plural(lost, "message")} left out: more came than could be written`] : []),
  ];
}
