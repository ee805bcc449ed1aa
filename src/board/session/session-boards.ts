// The open session boards of an agent's board. They close with it.

import { PlugboardError } from "../../model/errors.ts";
import type { SessionBoard } from "../../model/board.ts";
import type { SessionOptions } from "../../model/board-options.ts";
import type { BoardCore } from "../core.ts";
import type { LiveSession } from "./session.ts";

export class SessionBoards {
  readonly #base: BoardCore;
  readonly #open = new Set<LiveSession>();
  #isClosed = false;

  constructor(base: BoardCore) {
    this.#base = base;
  }

  /** How many sessions run the servers that the configuration starts for each. */
  get withPerSession(): number {
    return [...this.#open].filter(({ hasPerSession }) => hasPerSession).length;
  }

  async open(options: SessionOptions): Promise<SessionBoard> {
    // Loaded with the first session: boards without sessions start faster.
    const { openSession } = await import("./session.ts");
    if (this.#isClosed) throw isClosed();
    const session = openSession(options, this.#base, () => this.#open.delete(session));
    this.#open.add(session);
    await session.open();
    if (this.#isClosed) throw isClosed();
    return session;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((session) => session.close()));
  }
}

function isClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the board is closed");
}
