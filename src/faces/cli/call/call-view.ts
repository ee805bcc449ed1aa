// What a person sees during a call: the servers that start, then the call and its progress.

import type { Board } from "../../../model/board.ts";
import type { Progress } from "../../../model/tool.ts";
import { duration, oneLine } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import type { Frame, LiveRows } from "../terminal/screen.ts";
import { startingRows } from "../status/starting.ts";
import { renderTable } from "../terminal/table.ts";

/** Without a live terminal, progress is printed at most this often. */
const LINE_EVERY_MS = 1000;

type ViewContext = Pick<CliContext, "screen" | "clock">;

export class CallView {
  readonly #context: ViewContext;
  readonly #board: Pick<Board, "status">;
  readonly #rows: LiveRows;
  #calling: { tool: string; since: number } | undefined;
  #progress: Progress | undefined;
  #lastLine = -Infinity;

  constructor(board: Pick<Board, "status">, context: ViewContext) {
    this.#board = board;
    this.#context = context;
    this.#rows = context.screen.live((frame) => this.#render(frame));
  }

  calling(tool: string): void {
    this.#calling = { tool, since: this.#context.clock.monotonic() };
  }

  progress(progress: Progress): void {
    this.#progress = progress;
    const { screen, clock } = this.#context;
    const now = clock.monotonic();
    if (screen.terminal.live || now - this.#lastLine < LINE_EVERY_MS) return;
    this.#lastLine = now;
    screen.note(`progress: ${progressText(progress)}`);
  }

  stop(): void {
    this.#rows.stop();
  }

  #render(frame: Frame): string[] {
    const { clock, screen } = this.#context;
    const servers = this.#board.status().filter(({ state }) => state.kind === "starting");
    const starting = startingRows(servers, frame, clock, screen.terminal);
    if (this.#calling === undefined) return starting;
    const { tool, since } = this.#calling;
    const done = this.#progress === undefined ? "" : progressText(this.#progress);
    const time = { text: duration(clock.monotonic() - since), tone: "dim" as const };
    const cells = [{ text: frame.spinner, tone: "cyan" as const }, tool, time, done];
    const { paint } = screen.terminal.err;
    const columns = [{}, { min: 8 }, {}, { min: 8 }];
    return [...starting, ...renderTable(columns, [{ cells }], { width: frame.width, paint })];
  }
}

/** `3/5 (60 %) message` */
export function progressText({ progress, total, message }: Progress): string {
  const share =
    total !== undefined && total > 0
      ? `${progress}/${total} (${Math.round((progress / total) * 100)} %)`
      : String(progress);
  return message === undefined ? share : `${share} ${oneLine(message, 200)}`;
}
