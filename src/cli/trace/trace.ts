// `plugboard trace`: the messages between the board and one server, live.

import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import type { TraceRequest } from "./command.ts";
import { traceServer } from "./trace-server.ts";
import { TraceView } from "./view.ts";

export async function runTrace(command: TraceRequest, context: CliContext): Promise<number> {
  const { screen, options, io } = context;
  const { out, unicode } = screen.terminal;
  const view = new TraceView({ ...out, unicode, isFull: command.full });
  const isLive = screen.terminal.err.isTerminal;
  return traceServer(command, context, {
    listener: (entry) => {
      // A reader that has stopped reading must not fill the memory.
      if ((io.stdout.writableLength ?? 0) > MOST_UNREAD) return view.skip(entry);
      if (!options.json) return screen.lines(view.lines(entry));
      for (const each of view.withSkipped(entry)) screen.jsonLine(each);
    },
    onGateway({ pid }) {
      const server = visible(command.server ?? "");
      screen.note(`The messages of ${server} in the gateway (pid ${pid}). Press Ctrl-C to stop.`);
    },
    onFollow() {
      const server = visible(command.server ?? "the server");
      const why = options.standalone || command.server === undefined ? "" : NO_GATEWAY;
      screen.note(
        `This command has started ${server} for itself, and sees only its own calls${why}.`,
      );
      if (isLive) screen.note("Press Ctrl-C to stop.");
    },
  });
}

/** Where there is one, its messages are shown. */
const NO_GATEWAY =
  ", since no gateway is running; to see the calls of other programs: plugboard up -d, then trace";

const MOST_UNREAD = 16 * 1024 ** 2;
