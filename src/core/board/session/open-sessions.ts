// The open sessions over an agent's board. They follow its configuration, and close with it.

import type { AgentConfig } from "../../types/agent-config.ts";
import type { ReloadReport } from "../../types/board.ts";
import type { SessionOptions } from "../../types/board-options.ts";
import { boardClosed } from "../../types/errors.ts";
import { readGiven } from "../../types/kinds.ts";
import type { BoardCore } from "../core.ts";
import type { HostTools } from "../native-tools.ts";
import type { SessionLayer } from "./session-layer.ts";

/** Another configuration of a board, read and checked. Nothing has changed yet. */
export interface PreparedBoard {
  /** Applies it, unless the board has closed meanwhile. */
  replace(): ReplacedBoard | undefined;
  /** Lets the board's own servers be changed again. */
  release(): void;
}

export interface ReplacedBoard {
  /** What has become of the board's own servers. */
  report: ReloadReport;
  /** Starts those that are to be started. */
  start: () => Promise<void>;
  /** Tells what has changed. `shared` is what has become of the agent's servers, for a session's board. */
  tell: (shared?: ReloadReport) => void;
}

/** A board that follows the configuration of the board beneath it. */
export interface FollowingBoard {
  readonly hasPerSession: boolean;
  /** Whether it follows the configuration that the agent's board has now. */
  readonly isUpToDate: boolean;
  open(): Promise<void>;
  /** Reads what a configuration of the agent means for it. `native` are the native tools of the agent's board. */
  prepare(agent: AgentConfig, native: HostTools): Promise<PreparedBoard>;
  /** For a session that was opened while the configuration was replaced. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

export class OpenSessions<Session extends FollowingBoard> {
  readonly #base: BoardCore;
  readonly #make: (layer: SessionLayer, onClosed: () => void) => Session;
  readonly #open = new Set<Session>();
  /** The sessions that have finished opening. */
  readonly #ready = new Set<Session>();
  #isClosed = false;

  constructor(base: BoardCore, make: (layer: SessionLayer, onClosed: () => void) => Session) {
    this.#base = base;
    this.#make = make;
  }

  /** How many sessions run the servers that the configuration starts for each. */
  get withPerSession(): number {
    return [...this.#open].filter(({ hasPerSession }) => hasPerSession).length;
  }

  async open(options: SessionOptions): Promise<Session> {
    // Loaded with the first session: boards without sessions start faster.
    const { SessionLayer: Layer } = await import("./session-layer.ts");
    if (this.#isClosed) throw boardClosed();
    const layer = readGiven("options", () => new Layer(options, this.#base));
    const session = this.#make(layer, () => {
      this.#open.delete(session);
      this.#ready.delete(session);
    });
    this.#open.add(session);
    try {
      await session.open();
      // The configuration may have been replaced meanwhile, even more than once.
      while (!session.isUpToDate && !this.#isClosed) await session.catchUp();
      if (this.#isClosed) throw boardClosed();
    } catch (error) {
      await session.close();
      throw error;
    }
    this.#ready.add(session);
    return session;
  }

  /** Reads what another configuration of the agent means for the sessions that are open. */
  async prepare(agent: AgentConfig, native: HostTools): Promise<PreparedBoard[]> {
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
