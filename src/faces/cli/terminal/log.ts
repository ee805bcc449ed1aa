// The log of a command: lines for people, or pino's JSON lines for a program.

import { createRequire } from "node:module";
import type { Logger as Pino } from "pino";
import type { LogFields, Logger, LogLevel } from "../../../model/logger.ts";
import { logLine } from "./log-line.ts";
import type { Paint } from "./paint.ts";

export type LogThreshold = LogLevel | "silent";

export const LOG_LEVELS: readonly LogThreshold[] = ["debug", "info", "warn", "error", "silent"];

export interface LogOptions {
  level: LogThreshold;
  format: "text" | "json";
  paint: Paint;
  write: (line: string) => void;
}

export function createLog(options: LogOptions): Logger {
  const { level: threshold, format, paint, write } = options;
  const json = lazily(() => openPino(write));
  const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold)) return;
    // Every command shows by itself how its servers fared: a line about it is for whoever asked for more.
    if (threshold === "warn" && fields["state"] !== undefined) return;
    if (format === "json") json()[level](fields, message);
    else write(logLine(level, message, fields, paint));
  };
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
  };
}

/** Loaded with the first line that needs it, and in one go, so that no line waits or is lost. */
function openPino(write: (line: string) => void): Pino {
  const { pino } = createRequire(import.meta.url)("pino") as typeof import("pino");
  return pino(
    { level: "debug", base: undefined, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => write(line.trimEnd()) },
  );
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
