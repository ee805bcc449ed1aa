// Waiting for servers to start, with a row for each while a person looks on.

import type { Board } from "../../../model/board.ts";
import type { ServerState } from "../../../model/server-state.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { duration } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { interrupted } from "../interrupted.ts";
import type { Frame } from "../terminal/screen.ts";
import { stateCell } from "./server-state.ts";
import { type Cell, renderTable, type Row } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";

type Watched = Pick<Board, "status" | "on">;

/** Resolves as soon as no server is starting, or when `limit` milliseconds have passed. */
export function untilStarted(board: Watched, context: CliContext, limit?: number): Promise<void> {
  const started = new Promise<void>((resolve) => {
    const stopListening = board.on("server", () => look());
    const look = (): void => {
      if (board.status().some(({ state }) => state.kind === "starting")) return;
      stopListening();
      resolve();
    };
    look();
  });
  const { clock } = context;
  return whileStarting(
    board,
    context,
    limit === undefined ? started : within(clock, limit, started),
  );
}

/** Shows how the servers start until `work` is done. Rejects with CANCELLED when the command must end. */
export async function whileStarting<Result>(
  board: Pick<Board, "status">,
  { screen, clock, signal }: CliContext,
  work: Promise<Result>,
): Promise<Result> {
  const rows = screen.live((frame) => startingRows(board.status(), frame, clock, screen.terminal));
  try {
    return await untilAborted(work, signal, interrupted);
  } finally {
    rows.stop();
  }
}

/** In the order of the configuration; where they do not all fit, those that are starting first. */
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
        ? { text: `${spinner} starting`, tone: "cyan" }
        : stateCell(state, terminal);
    return {
      cells: [name, cell, { text: time === undefined ? "" : duration(time), tone: "dim" }],
    };
  });
  return renderTable([{ min: 8 }, { min: 10 }, {}], rows, { width, paint: terminal.err.paint });
}

function timeOf(state: ServerState, clock: Clock): number | undefined {
  if (state.kind === "starting") return clock.now() - state.since;
  return state.kind === "ready" ? state.startMs : undefined;
}
