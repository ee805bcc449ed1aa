// Writes what people decide in the page to the audit, with who it was.

import type { DecisionEntry } from "../../../core/types/audit-entry.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { AuditSink, AuditTrail } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { oneLine } from "../../../util/text.ts";
import type { Visitor } from "./visitors.ts";

export interface DecisionsOptions {
  trail: Pick<AuditTrail, "open">;
  clock: Clock;
  logger: Logger;
}

/** What was decided: a line of the audit but for who and when. */
export type Decided = Omit<DecisionEntry, "type" | "time" | "caller" | "visit">;

const LONGEST = 500;

export class Decisions {
  readonly #options: DecisionsOptions;
  #sink: AuditSink | undefined;

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** What cannot be written is logged: a decision is not undone for that. */
  async record({ name, nonce }: Visitor, decided: Decided): Promise<void> {
    const { trail, clock, logger } = this.#options;
    const line: DecisionEntry = {
      type: "decision",
      time: new Date(clock.now()).toISOString(),
      caller: name,
      visit: nonce,
      ...decided,
      decided: oneLine(decided.decided, LONGEST),
    };
    const told = (error: unknown): void =>
      logger.warn(`a decision was not recorded in the audit: ${reasonOf(error)}`);
    this.#sink ??= trail.open(told);
    await this.#sink.append(Buffer.from(`${JSON.stringify(line)}\n`)).catch(told);
  }

  async close(): Promise<void> {
    await this.#sink?.close();
  }
}
