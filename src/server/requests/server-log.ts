// What a server says to the log (`notifications/message`): plain, short, bounded in number, and for the
// log alone.

import { isJsonObject } from "../../model/json.ts";
import type { Logger, LogLevel } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { asText, oneLine, plainText, plural } from "../../util/text.ts";
import { LineLimit } from "./line-limit.ts";

const MAX_LINE = 2000;
/** Characters that are looked at for what to show of it. */
const MAX_READ = 4 * MAX_LINE;
const MAX_NAME = 80;

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

/** The protocol's word for what the host wants to hear, and all above. */
export function protocolLevel(level: LogLevel): string {
  return level === "warn" ? "warning" : level;
}

export class ServerLog {
  readonly #logger: Logger;
  readonly #redact: (text: string, isCut?: boolean) => string;
  readonly #limit: LineLimit;

  constructor(
    logger: Logger,
    clock: Clock,
    redact: (text: string, isCut?: boolean) => string = (text) => text,
  ) {
    this.#logger = logger;
    this.#redact = redact;
    this.#limit = new LineLimit(clock, (count) =>
      logger.warn(`(${plural(count, "message")} left out)`, { stream: "log" }),
    );
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

  /** Redacted after it was made plain, or an escape inside a secret would hide it; and before it is cut. */
  #clean(text: string, max: number): string {
    const isCut = text.length > MAX_READ;
    return oneLine(this.#redact(plainText(text.slice(0, MAX_READ)), isCut), max);
  }
}
