// The lowest level of log messages that anybody wants from a board's servers: the board itself, its clients, and the
// sessions that share the servers.

import { PlugboardError } from "../types/errors.ts";
import type { LogLevel } from "../types/logger.ts";
import {
  type LogLevelSource,
  SERVER_LOG_LEVELS,
  type ServerLogLevel,
} from "../types/server-log.ts";
import { closest } from "../../util/closest.ts";
import { asText, oneLine } from "../../util/text.ts";

export class BoardLogLevel implements LogLevelSource {
  readonly #base: BoardLogLevel | undefined;
  /** By who wants it. */
  readonly #wanted = new Map<object, ServerLogLevel>();
  readonly #listeners = new Set<() => void>();
  readonly #least: ServerLogLevel;

  /** `least` is what the board wants for its own log. `base` is the agent's board, for a session's. */
  constructor(least: LogLevel = "warn", base?: BoardLogLevel) {
    this.#least = least === "warn" ? "warning" : least;
    this.#base = base;
  }

  current(): ServerLogLevel {
    const wanted = new Set([this.#least, ...this.#wanted.values()]);
    return SERVER_LOG_LEVELS.find((level) => wanted.has(level)) ?? this.#least;
  }

  /** Throws INVALID_ARGUMENTS. Without a level, only the board's own counts. */
  set(level: ServerLogLevel | undefined): void {
    if (level !== undefined && !SERVER_LOG_LEVELS.includes(level)) {
      const given = oneLine(asText(level), 40);
      const meant = closest(given, SERVER_LOG_LEVELS);
      const message = `there is no log level '${given}'; expected ${SERVER_LOG_LEVELS.join(", ")}`;
      const hint = meant && `did you mean '${meant}'?`;
      throw new PlugboardError("INVALID_ARGUMENTS", message, { hint });
    }
    this.#want(this, level);
    if (this.#base !== undefined) this.#base.#want(this, level);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The servers of the agent's board no longer send what only this session wanted. */
  close(): void {
    if (this.#base !== undefined) this.#base.#want(this, undefined);
  }

  #want(who: object, level: ServerLogLevel | undefined): void {
    const before = this.current();
    if (level === undefined) this.#wanted.delete(who);
    else this.#wanted.set(who, level);
    if (this.current() !== before) for (const listener of this.#listeners) listener();
  }
}
