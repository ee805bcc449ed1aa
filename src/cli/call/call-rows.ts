// The rows of a call under way, on a terminal.

import type { ServerStatus } from "../../core/types/server-status.ts";
import { duration } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { startingRows } from "../status/starting.ts";
import type { Frame } from "../terminal/screen.ts";
import { renderTable } from "../terminal/table.ts";

export interface CallUnderWay {
  /** Absent until the tool is found. */
  tool?: string;
  since?: number;
  progress?: string;
}

export function callRows(
  servers: readonly ServerStatus[],
  { tool, since = 0, progress = "" }: CallUnderWay,
  frame: Frame,
  { screen, clock }: Pick<CliContext, "screen" | "clock">,
): string[] {
  const isStarting = servers.filter(({ state }) => state.kind === "starting");
  const starting = startingRows(isStarting, frame, clock, screen.terminal);
  if (tool === undefined) return starting;
  const time = { text: duration(clock.monotonic() - since), tone: "dim" as const };
  const cells = [{ text: frame.spinner, tone: "cyan" as const }, tool, time, progress];
  const { paint } = screen.terminal.err;
  const columns = [{}, { min: 8 }, {}, { min: 8 }];
  return [...starting, ...renderTable(columns, [{ cells }], { width: frame.width, paint })];
}
