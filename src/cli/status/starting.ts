// Waits for servers to start, and shows a row for each while a person watches.

import type { Board } from "../../core/types/board.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { type Clock, within } from "../../util/clock.ts";
import { duration } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { untilInterrupted } from "../lifetime.ts";
import type { Frame } from "../terminal/screen.ts";
import { stateCell } from "./server-state.ts";
import { type Cell, renderTable, type Row } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Resolves as soon as no server that `isNeeded` is starting, or when `limit` milliseconds have passed. */
export function untilStarted(
  board: Pick<Board, "status" | "on">,
  context: CliContext,
  limit?: number,
  isNeeded: (server: ServerStatus) => boolean = () => true,
): Promise<void> {
  const started = new Promise<void>((resolve) => {
    const stopListening = board.on("server", () => look());
    const look = (): void => {
      const needed = board.status().filter(isNeeded);
      if (needed.some(({ state }) => state.kind === "starting")) return;
      stopListening();
      resolve();
    };
    look();
  });
  const work = limit === undefined ? started : within(context.clock, limit, started);
  return whileStarting(board, context, work);
}

/** Shows the servers that start until `work` is done. Rejects with CANCELLED when the command must end. */
export async function whileStarting<Result>(
  board: Pick<Board, "status">,
  { screen, clock, signal }: CliContext,
  work: Promise<Result>,
): Promise<Result> {
  const rows = screen.live((frame) => startingRows(board.status(), frame, clock, screen.terminal));
  try {
    return await untilInterrupted(work, signal);
  } finally {
    rows.stop();
  }
}

/** In the order of the configuration; if they do not all fit, those still starting come first. */
export function startingRows(
  servers: readonly ServerStatus[],
  { spinner, width, height }: Frame,
  clock: Clock,
  terminal: Terminal,
): string[] {
  const isDone = ({ state }: ServerStatus): boolean => state.kind !== "starting";
  const ordered =
    servers.length <= height
      ? servers
      : [...servers].sort((a, b) => Number(isDone(a)) - Number(isDone(b)));
  const rows = ordered.map(({ name, state }): Row => {
    const time = timeOf(state, clock);
    const cell: Cell =
      state.kind === "starting"
        ? { text: `${spinner} ${doing(state)}`, tone: "cyan" }
        : stateCell(state, terminal);
    return {
      cells: [name, cell, { text: time === undefined ? "" : duration(time), tone: "dim" }],
    };
  });
  return renderTable([{ min: 8 }, { min: 10 }, {}], rows, { width, paint: terminal.err.paint });
}

function doing({ installer }: ServerState & { kind: "starting" }): string {
  return installer === undefined ? "starting" : `${installer} is installing it`;
}

function timeOf(state: ServerState, clock: Clock): number | undefined {
  if (state.kind === "starting") return clock.now() - state.since;
  return state.kind === "ready" ? state.startMs : undefined;
}
