// `plugboard replay`: an MCP server on stdin and stdout that answers from a recording, until the client disconnects.

import { basename, resolve } from "node:path";
import type { Readable } from "node:stream";
import { deferred } from "../../util/deferred.ts";
import { LineReader } from "../../util/line-reader.ts";
import { visible } from "../../util/visible.ts";
import { claimStdout } from "../claim-stdout.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { ReplayRequest } from "./command.ts";
import { RecordedServer } from "./recorded-server.ts";
import { readRecording } from "./recording-file.ts";

const MAX_BYTES = 64 * 1024 ** 2;
/** How much may wait for a client that does not read. */
const MOST_UNREAD = 16 * 1024 ** 2;

export async function runReplay({ file }: ReplayRequest, context: CliContext): Promise<number> {
  const { io, screen, signal } = context;
  const write = claimStdout(io.stdout, io.stderr);
  const recording = await readRecording(resolve(io.cwd, file));
  if (io.stdin.isTTY) {
    screen.note("This command is for MCP clients: they start it and talk to it here.");
    screen.note("Press Ctrl-C to stop.");
  }
  const input = io.stdin as Readable;
  const over = deferred();
  let unread = 0;
  const server = new RecordedServer({
    recording,
    name: visible(basename(file)),
    send(message) {
      const line = `${JSON.stringify(message)}\n`;
      unread += line.length;
      // A client that does not read is not read from either.
      if (unread > MOST_UNREAD) input.pause();
      write(line, () => {
        unread -= line.length;
        if (unread <= MOST_UNREAD && input.isPaused()) input.resume();
      });
    },
  });
  const reader = new LineReader({
    maxBytes: MAX_BYTES,
    onLine: (line) => server.take(line),
    onOverflow: () => over.resolve(),
  });
  const onData = (chunk: Buffer): void => reader.push(chunk);
  const stop = (): void => {
    reader.end();
    over.resolve();
  };
  input.on("data", onData).once("end", stop).once("close", stop).once("error", stop);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await over.promise;
  input.off("data", onData).off("end", stop).off("close", stop).off("error", stop);
  input.pause();
  signal.removeEventListener("abort", stop);
  return EXIT.ok;
}
