// Watches the state of a session's servers: reports each problem once with its remedy, and waits for servers that are
// starting.

import type { ServerState } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { untilAborted } from "../../../util/abort.ts";
import { cancelled } from "../../../core/types/errors.ts";
import { capitalised, oneLine } from "../../../util/text.ts";

const LONGEST_REASON = 600;

/** Why the server's tools cannot be used now, and the remedy. Undefined if they can be used. */
export function problemOf({
  name,
  state,
}: Pick<ServerStatus, "name" | "state">): string | undefined {
  const why = reasonOf(state);
  return why === undefined ? undefined : `${oneLine(name, 80)}: ${oneLine(why, LONGEST_REASON)}`;
}

function reasonOf(state: ServerState): string | undefined {
  switch (state.kind) {
    case "failed":
    case "backoff": {
      const { message, hint } = state.error;
      return hint === undefined ? message : `${message}. ${capitalised(hint)}`;
    }
    case "untrusted":
    case "needs-auth":
      return state.remedy;
    default:
      return undefined;
  }
}

export class ServerWatcher {
  readonly #board: Pick<SessionBoard, "status" | "on">;
  readonly #reported = new Set<string>();
  readonly #send: (problem: string) => void;

  constructor(board: Pick<SessionBoard, "status" | "on">, send: (problem: string) => void) {
    this.#board = board;
    this.#send = send;
  }

  /**
   * Reports each problem once, and again only after the server was ready in between. With `isShown` the user sees
   * the problems anyway, and they only count as reported.
   */
  report(isShown = false): void {
    for (const status of this.#board.status()) {
      const problem = problemOf(status);
      if (problem === undefined) {
        if (status.state.kind === "ready") this.#reported.delete(status.name);
      } else if (!this.#reported.has(status.name)) {
        this.#reported.add(status.name);
        if (!isShown) this.#send(problem);
      }
    }
  }

  starting(): string[] {
    return this.#board
      .status()
      .filter(({ state }) => state.kind === "starting")
      .map(({ name }) => name);
  }

  /** Resolves when no server is starting any more, or after `ms`. Rejects with CANCELLED on abort. */
  async settled(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    let off = (): void => {};
    const settled = new Promise<void>((resolve) => {
      const check = (): void => {
        if (this.starting().length === 0) resolve();
      };
      off = this.#board.on("server", check);
      check();
    });
    try {
      await untilAborted(within(clock, ms, settled), signal, cancelled);
    } finally {
      off();
    }
  }
}
