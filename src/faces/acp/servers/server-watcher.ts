// How a session's servers fare, told once each: what is starting, what failed, and what helps.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { ServerState } from "../../../model/server-state.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { untilAborted } from "../../../util/abort.ts";
import { cancelled } from "../../../model/errors.ts";
import { capitalised, oneLine } from "../../../util/text.ts";
import { textBlock } from "../wire/content.ts";
import type { SessionBoard } from "../responder/responder.ts";

const LONGEST = 600;

/** Why the server's tools cannot be used now, and what helps; undefined where they can. */
export function trouble({ name, state }: Pick<ServerStatus, "name" | "state">): string | undefined {
  const why = reasonOf(state);
  return why === undefined ? undefined : `${oneLine(name, 80)}: ${oneLine(why, LONGEST)}`;
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

export class Health {
  readonly #board: Pick<SessionBoard, "status" | "on">;
  readonly #told = new Set<string>();
  readonly #tell: (problem: string) => void;

  constructor(board: Pick<SessionBoard, "status" | "on">, tell: (problem: string) => void) {
    this.#board = board;
    this.#tell = tell;
  }

  /** Tells what has not been told; a server that recovered may be told of again. `isKnown`: it is being told anyway. */
  report(isKnown = false): void {
    for (const status of this.#board.status()) {
      const problem = trouble(status);
      if (problem === undefined) {
        if (status.state.kind === "ready") this.#told.delete(status.name);
      } else if (!this.#told.has(status.name)) {
        this.#told.add(status.name);
        if (!isKnown) this.#tell(problem);
      }
    }
  }

  starting(): string[] {
    return this.#board
      .status()
      .filter(({ state }) => state.kind === "starting")
      .map(({ name }) => name);
  }

  /** Resolves when nothing is starting any more, or after `ms`. Rejects with CANCELLED on abort. */
  async settled(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    let off = (): void => {};
    const settled = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.starting().length === 0) resolve();
      };
      off = this.#board.on("server", look);
      look();
    });
    try {
      await untilAborted(within(clock, ms, settled), signal, cancelled);
    } finally {
      off();
    }
  }
}

/** A notice where the client shows them, else a message of the agent's. */
export function noticeUpdate(text: string, takesNotices: boolean): SessionUpdate {
  return takesNotices
    ? { sessionUpdate: "notice", severity: "warning", title: text }
    : { sessionUpdate: "agent_message_chunk", content: textBlock(`${text}\n\n`) };
}
