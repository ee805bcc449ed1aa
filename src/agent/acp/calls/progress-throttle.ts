// Limits how often the editor is told about a call's progress: a server may report it a thousand times a second,
// and nobody can read that.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Clock, Timer } from "../../../util/clock.ts";

const INTERVAL_MS = 100;

type CallUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

export class ProgressThrottle {
  readonly #clock: Clock;
  readonly #send: (update: CallUpdate) => void;
  /** By call: the interval that is running, and the latest update that waits for its end. */
  readonly #intervals = new Map<string, { timer: Timer; latest?: CallUpdate }>();

  constructor(clock: Clock, send: (update: CallUpdate) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends the update at once, or, within an interval of the one before, the latest when it has passed. */
  add(update: CallUpdate): void {
    const interval = this.#intervals.get(update.toolCallId);
    if (interval === undefined) this.#sendNow(update);
    else interval.latest = update;
  }

  /** Drops what has not been sent for this call. */
  end(toolCallId: string): void {
    this.#intervals.get(toolCallId)?.timer.cancel();
    this.#intervals.delete(toolCallId);
  }

  close(): void {
    for (const toolCallId of this.#intervals.keys()) this.end(toolCallId);
  }

  #sendNow(update: CallUpdate): void {
    const { toolCallId } = update;
    const timer = this.#clock.later(INTERVAL_MS, () => {
      const latest = this.#intervals.get(toolCallId)?.latest;
      this.#intervals.delete(toolCallId);
      if (latest !== undefined) this.#sendNow(latest);
    });
    this.#intervals.set(toolCallId, { timer });
    this.#send(update);
  }
}
