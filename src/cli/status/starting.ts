// Waits for servers to start, and shows a row for each while a person watches.

import type { Board } from "../../core/types/board.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { type Clock, type Timer, within } from "../../util/clock.ts";
import { duration } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { untilInterrupted } from "../lifetime.ts";
import type { Frame, RenderRows } from "../terminal/screen.ts";
import { stateCell } from "./server-state.ts";
import { type Cell, renderTable, type Row } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface UntilStartedOptions {
  /** Default: as long as it takes. */
  limit?: number | undefined;
  /** Which servers are waited for. Default: all. */
  isNeeded?: (server: ServerStatus) => boolean;
  /** Servers whose tools earlier runs know are left behind once only they are starting, and none has moved for a while. */
  leavesCached?: boolean;
  /** What is shown meanwhile. Default: the servers and their states. */
  render?: RenderRows;
}

/** So that many servers on a busy machine are waited for as long as they come, and one that hangs is not. */
const LEFT_BEHIND_MS = 5000;

/** Resolves as soon as no server that `isNeeded` is starting, or when `limit` milliseconds have passed. */
export function untilStarted(
  board: Pick<Board, "status" | "on">,
  context: CliContext,
  { limit, isNeeded = () => true, leavesCached = false, render }: UntilStartedOptions = {},
): Promise<void> {
  const isStarting = (each: ServerStatus): boolean =>
    each.state.kind === "starting" && isNeeded(each);
  const started = new Promise<void>((resolve) => {
    const starting = new Set(board.status().flatMap((each) => (isStarting(each) ? each.name : [])));
    let leaving: Timer | undefined;
    const finish = (): void => {
      leaving?.cancel();
      stopListening();
      resolve();
    };
    const look = (): void => {
      if (starting.size === 0) return finish();
      leaving?.cancel();
      const isLeft = ({ name, cached }: ServerStatus): boolean => cached || !starting.has(name);
      if (leavesCached && board.status().every(isLeft)) {
        leaving = context.clock.later(LEFT_BEHIND_MS, finish);
      }
    };
    // Many servers change their state many times, so only those that begin are looked up.
    const stopListening = board.on("server", ({ server, state }) => {
      if (state.kind !== "starting") starting.delete(server);
      else if (board.status().some((each) => each.name === server && isStarting(each)))
        starting.add(server);
      look();
    });
    look();
  });
  const work = limit === undefined ? started : within(context.clock, limit, started);
  return whileStarting(board, context, work, render);
}

/** Shows the servers that start until `work` is done. Rejects with CANCELLED when the command must end. */
export async function whileStarting<Result>(
  board: Pick<Board, "status">,
  { screen, clock, signal }: CliContext,
  work: Promise<Result>,
  render: RenderRows = (frame) => startingRows(board.status(), frame, clock, screen.terminal),
): Promise<Result> {
  const rows = screen.live(render);
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
  const rows = startingFirst(servers, height).map(({ name, state }): Row => {
    const time = timeOf(state, clock);
    return {
      cells: [
        name,
        liveStateCell(state, spinner, terminal),
        { text: time === undefined ? "" : duration(time), tone: "dim" },
      ],
    };
  });
  return renderTable([{ min: 8 }, { min: 10 }, {}], rows, { width, paint: terminal.err.paint });
}

/** Where there are more servers than rows, those that are starting come first. */
export function startingFirst(servers: readonly ServerStatus[], rows: number): ServerStatus[] {
  if (servers.length <= rows) return [...servers];
  const isDone = ({ state }: ServerStatus): boolean => state.kind !== "starting";
  return [...servers].sort((a, b) => Number(isDone(a)) - Number(isDone(b)));
}

export function liveStateCell(state: ServerState, spinner: string, terminal: Terminal): Cell {
  return state.kind === "starting"
    ? { text: `${spinner} ${doing(state)}`, tone: "cyan" }
    : stateCell(state, terminal);
}

function doing({ installer }: ServerState & { kind: "starting" }): string {
  return installer === undefined ? "starting" : `${installer} is installing it`;
}

function timeOf(state: ServerState, clock: Clock): number | undefined {
  if (state.kind === "starting") return clock.now() - state.since;
  return state.kind === "ready" ? state.startMs : undefined;
}
