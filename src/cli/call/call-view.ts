// What a person sees during a call: the servers that start, then the call and its progress.

import type { Board } from "../../core/types/board.ts";
import type { ToolUpdate } from "../../core/types/tool.ts";
import type { Timer } from "../../util/clock.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import type { LiveRows } from "../terminal/screen.ts";
import type { CallUnderWay } from "./call-rows.ts";

/** Without a live terminal, progress is printed at most this often. */
const LINE_EVERY_MS = 1000;
/** Most calls to a running server are over by then, and need no rows. */
const ROWS_AFTER_MS = 50;
const LONGEST_MESSAGE = 200;

type ViewContext = Pick<CliContext, "screen" | "clock">;

export class CallView {
  readonly #context: ViewContext;
  readonly #board: Pick<Board, "status">;
  readonly #call: CallUnderWay = {};
  #timer: Timer | undefined;
  #rows: LiveRows | undefined;
  #isStopped = false;
  #lastLine = -Infinity;

  constructor(board: Pick<Board, "status">, context: ViewContext) {
    this.#board = board;
    this.#context = context;
    if (!context.screen.terminal.live) return;
    this.#timer = context.clock.later(ROWS_AFTER_MS, () => void this.#showRows());
  }

  calling(tool: string): void {
    this.#call.tool = tool;
    this.#call.since = this.#context.clock.monotonic();
  }

  progress(update: ToolUpdate): void {
    const text = progressText(update);
    if (text === "") return;
    this.#call.progress = text;
    const { screen, clock } = this.#context;
    const now = clock.monotonic();
    if (screen.terminal.live || now - this.#lastLine < LINE_EVERY_MS) return;
    this.#lastLine = now;
    screen.note(`progress: ${text}`);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#rows?.stop();
  }

  async #showRows(): Promise<void> {
    // A file of its own, since tables take longer to load than most calls take.
    const { callRows } = await import("./call-rows.ts");
    if (this.#isStopped) return;
    this.#rows = this.#context.screen.live((frame) =>
      callRows(this.#board.status(), this.#call, frame, this.#context),
    );
  }
}

/** `3/5 (60 %) message`, or what a tool of your own has told without figures. */
export function progressText({ progress: figures, content }: ToolUpdate): string {
  if (figures === undefined) {
    const words = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    return oneLine(words.join(" "), LONGEST_MESSAGE);
  }
  const { progress, total, message } = figures;
  const share =
    total !== undefined && total > 0
      ? `${progress}/${total} (${Math.round((progress / total) * 100)} %)`
      : String(progress);
  return message === undefined ? share : `${share} ${oneLine(message, LONGEST_MESSAGE)}`;
}
