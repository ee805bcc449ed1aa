// How often an editor is told how far a call has come: a server may say so a thousand times a second, and
// nobody reads more than a few.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Clock, Timer } from "../../../util/clock.ts";

const SPACING_MS = 100;

type CallUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

interface Running {
  timer: Timer;
  /** Not told yet. */
  latest?: CallUpdate;
}

export class Pace {
  readonly #clock: Clock;
  readonly #tell: (update: CallUpdate) => void;
  readonly #running = new Map<string, Running>();

  constructor(clock: Clock, tell: (update: CallUpdate) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Told at once, or with the next one if the one before was told a moment ago: the latest counts. */
  add(update: CallUpdate): void {
    const running = this.#running.get(update.toolCallId);
    if (running === undefined) this.#next(update);
    else running.latest = update;
  }

  /** Of this call nothing is told any more. */
  end(toolCallId: string): void {
    this.#running.get(toolCallId)?.timer.cancel();
    this.#running.delete(toolCallId);
  }

  close(): void {
    for (const toolCallId of this.#running.keys()) this.end(toolCallId);
  }

  #next(update: CallUpdate): void {
    const { toolCallId } = update;
    const timer = this.#clock.later(SPACING_MS, () => {
      const latest = this.#running.get(toolCallId)?.latest;
      this.#running.delete(toolCallId);
      if (latest !== undefined) this.#next(latest);
    });
    this.#running.set(toolCallId, { timer });
    this.#tell(update);
  }
}
