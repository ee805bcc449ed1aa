// The last lines that the servers of a gateway have written, to stderr and as log messages, with what the gateway itself has
// logged about them. They are kept whatever is printed, for `plugboard logs`.

import type { LogFields, Logger, LogLevel } from "../../../core/types/logger.ts";
import type { ServerLine, ServerLines } from "../../../core/types/server-log.ts";
import type { Clock } from "../../../util/clock.ts";
import { truncate } from "../../../util/text.ts";

const MOST_LINES = 1000;
const LONGEST_LINE = 2000;

export class RecentLogs implements ServerLines {
  /** Passes everything on, and keeps what is about a server. */
  readonly logger: Logger;
  readonly #clock: Clock;
  readonly #lines: ServerLine[] = [];
  readonly #listeners = new Set<(line: ServerLine) => void>();

  constructor(logger: Logger, clock: Clock) {
    this.#clock = clock;
    const keeping =
      (level: LogLevel) =>
      (message: string, fields?: LogFields): void => {
        logger[level](message, fields);
        this.#keep(level, message, fields);
      };
    this.logger = {
      debug: keeping("debug"),
      info: keeping("info"),
      warn: keeping("warn"),
      error: keeping("error"),
    };
  }

  lines(): readonly ServerLine[] {
    return this.#lines;
  }

  listen(listener: (line: ServerLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(level: LogLevel, message: string, fields: LogFields = {}): void {
    const { server, stream, tool: about = fields["subject"] } = fields;
    if (typeof server !== "string" || level === "debug") return;
    const line: ServerLine = {
      at: this.#clock.now(),
      server,
      level,
      ...(typeof stream === "string" && { stream }),
      text: truncate(typeof about === "string" ? `${about}: ${message}` : message, LONGEST_LINE),
    };
    this.#lines.push(line);
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
