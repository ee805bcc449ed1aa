// The open session boards of an agent's board. They close with it.

import { boardClosed } from "../../types/errors.ts";
import type { SessionBoard } from "../../types/board.ts";
import type { AgentConfig } from "../../types/agent-config.ts";
import type { BoardOptions, SessionOptions } from "../../types/board-options.ts";
import type { BoardCore } from "../core.ts";
import type { LiveSession, PreparedSession } from "./session.ts";

export class SessionBoards {
  readonly #base: BoardCore;
  readonly #open = new Set<LiveSession>();
  /** Those of them that have opened. */
  readonly #ready = new Set<LiveSession>();
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
    if (this.#isClosed) throw boardClosed();
    const session = openSession(options, this.#base, () => {
      this.#open.delete(session);
      this.#ready.delete(session);
    });
    this.#open.add(session);
    await session.open();
    // The configuration may have been replaced meanwhile, even more than once.
    while (!session.isUpToDate && !this.#isClosed) await session.catchUp();
    if (this.#isClosed) throw boardClosed();
    this.#ready.add(session);
    return session;
  }

  /** Reads what another configuration of the agent means for the sessions that are open. */
  async prepare(
    agent: AgentConfig,
    native: NonNullable<BoardOptions["native"]>,
  ): Promise<PreparedSession[]> {
    const prepared = await Promise.allSettled(
      [...this.#ready].map((session) => session.prepare(agent, native)),
    );
    const sessions = prepared.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const failed = prepared.find((each) => each.status === "rejected");
    if (failed === undefined) return sessions;
    for (const session of sessions) session.release();
    throw failed.reason;
  }

  /** Sessions that have opened while a configuration was prepared follow it too. */
  async catchUp(): Promise<void> {
    await Promise.all([...this.#ready].map((session) => session.catchUp()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((session) => session.close()));
  }
}
