// A logger that remembers.

import type { LogFields, Logger, LogLevel } from "../../src/core/types/logger.ts";

interface LogLine {
  level: LogLevel;
  message: string;
  fields: LogFields;
}

export function recordingLogger(): Logger & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
