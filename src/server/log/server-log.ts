// Writes a server's log messages (`notifications/message`) to the log: as plain text, short and in bounded
// number.

import { isJsonObject } from "../../model/json.ts";
import type { Logger, LogLevel } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { asText, oneLine, plainText, plural } from "../../util/text.ts";
import { LogLimit } from "./log-limit.ts";
import type { RedactText } from "./stderr-log.ts";

const MAX_LINE = 2000;
/** How many characters of a message we look at. */
const MAX_READ = 4 * MAX_LINE;
const MAX_NAME = 80;
const LIMIT = { maxLines: 100, windowMs: 1000 };

const LEVELS: ReadonlyMap<unknown, LogLevel> = new Map<unknown, LogLevel>([
  ["debug", "debug"],
  ["info", "info"],
  ["notice", "info"],
  ["warning", "warn"],
  ["error", "error"],
  ["critical", "error"],
  ["alert", "error"],
  ["emergency", "error"],
]);

/** The protocol's word for a level of ours. */
export function protocolLevel(level: LogLevel): string {
  return level === "warn" ? "warning" : level;
}

export class ServerLog {
  readonly #logger: Logger;
  readonly #redact: RedactText;
  readonly #limit: LogLimit;

  constructor(logger: Logger, clock: Clock, redact: RedactText = (text) => text) {
    this.#logger = logger;
    this.#redact = redact;
    const onLeftOut = (count: number): void =>
      logger.warn(`(${plural(count, "message")} left out)`, { stream: "log" });
    this.#limit = new LogLimit({ ...LIMIT, clock, onLeftOut });
  }

  write(params: unknown): void {
    if (!isJsonObject(params) || !this.#limit.take()) return;
    const level = LEVELS.get(params.level) ?? "info";
    const name = typeof params.logger === "string" ? this.#clean(params.logger, MAX_NAME) : "";
    this.#logger[level](this.#clean(asText(params.data), MAX_LINE), {
      stream: "log",
      ...(name !== "" && { logger: name }),
    });
  }

  /** Redacts after plainText, because an escape inside a secret would hide it, and before the text is cut. */
  #clean(text: string, max: number): string {
    const isCut = text.length > MAX_READ;
    return oneLine(this.#redact(plainText(text.slice(0, MAX_READ)), isCut), max);
  }
}
