// Lets whoever answers get ready for a session's tools while nobody waits for it.

import type { Tool } from "../../../model/tool.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import type { Responder } from "../responder/responder.ts";

/** Servers that start together come one by one. */
const AFTER_MS = 50;

export class Preparation {
  readonly #clock: Clock;
  readonly #responder: Pick<Responder, "prepare"> | undefined;
  readonly #tools: () => readonly Tool[];
  #timer: Timer | undefined;

  constructor(
    clock: Clock,
    responder: Pick<Responder, "prepare"> | undefined,
    tools: () => readonly Tool[],
  ) {
    this.#clock = clock;
    this.#responder = responder;
    this.#tools = tools;
  }

  soon(): void {
    if (this.#responder?.prepare === undefined) return;
    this.cancel();
    this.#timer = this.#clock.later(AFTER_MS, () => this.#responder?.prepare?.(this.#tools()));
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
