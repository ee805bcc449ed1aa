// Lines for the log about who comes and goes. A flood of them is summed up, so that nobody can fill the log.

import type { Logger, LogFields } from "../../../core/types/logger.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { duration } from "../../../util/text.ts";

/** How many lines of one kind are written within a period. */
const MOST_LINES = 10;
const PERIOD_MS = 10_000;

export type VisitKind = "session" | "client" | "command" | "refusal";

/** What lines of a kind that were left out are called. */
const NOUNS: Readonly<Record<VisitKind, string>> = {
  session: "sessions that began or ended",
  client: "new clients",
  command: "commands that attached or left",
  refusal: "refused requests",
};

interface Period {
  lines: number;
  leftOut: number;
  timer: Timer;
}

export class VisitLines {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #periods = new Map<VisitKind, Period>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  say(kind: VisitKind, message: string, fields: LogFields): void {
    const period = this.#periods.get(kind) ?? this.#begin(kind);
    if (period.lines >= MOST_LINES) {
      period.leftOut += 1;
      return;
    }
    period.lines += 1;
    this.#log(kind, message, fields);
  }

  /** Says what was left out until now. */
  close(): void {
    for (const kind of this.#periods.keys()) this.#end(kind);
  }

  #begin(kind: VisitKind): Period {
    const timer = this.#clock.later(PERIOD_MS, () => this.#end(kind));
    const period = { lines: 0, leftOut: 0, timer };
    this.#periods.set(kind, period);
    return period;
  }

  #end(kind: VisitKind): void {
    const period = this.#periods.get(kind);
    this.#periods.delete(kind);
    period?.timer.cancel();
    if (period === undefined || period.leftOut === 0) return;
    const message = `${period.leftOut} more ${NOUNS[kind]} within ${duration(PERIOD_MS)}`;
    this.#log(kind, message, {});
  }

  #log(visit: VisitKind, message: string, fields: LogFields): void {
    this.#logger[visit === "refusal" ? "warn" : "info"](message, { visit, ...fields });
  }
}
