// The log of a command: lines for people, or pino's JSON lines for a program.

import { createRequire } from "node:module";
import type { Logger as Pino } from "pino";
import type { LogFields, Logger, LogLevel } from "../../core/types/logger.ts";
import { asText, oneLine, plainText } from "../../util/text.ts";
import type { Paint, Tone } from "./terminal.ts";

export type LogThreshold = LogLevel | "silent";

export const LOG_LEVELS: readonly LogThreshold[] = ["debug", "info", "warn", "error", "silent"];

export interface LogOptions {
  level: LogThreshold;
  format: "text" | "json";
  /** The command reports the state of its servers itself, so that the log need not repeat it by default. */
  isStateShown: boolean;
  /** Lines about who comes and goes, which have the field `visit`, are shown by default. */
  showsVisits?: boolean;
  /** What servers write to stderr is shown, at its level. */
  showsStderr: boolean;
  /** Splits a text before a command that it offers for copying. */
  apart: (text: string) => string[];
  paint: Paint;
  write: (line: string) => void;
}

const TONES: Readonly<Record<LogLevel, Tone>> = {
  debug: "dim",
  info: "cyan",
  warn: "yellow",
  error: "red",
};

export function createLog(options: LogOptions): Logger {
  const {
    level: threshold,
    format,
    isStateShown,
    showsVisits = false,
    showsStderr,
    write,
  } = options;
  let pino: Pino | undefined;
  const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    const isVisit = showsVisits && threshold === "warn" && fields["visit"] !== undefined;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold) && !isVisit) return;
    if (!showsStderr && fields["stream"] === "stderr") return;
    if (isStateShown && threshold === "warn" && fields["state"] !== undefined) return;
    if (format === "json") (pino ??= openPino(write))[level](fields, message);
    else write(logLine(level, message, fields, options));
  };
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
  };
}

/** Loaded with the first line, since most commands log none; synchronously, so that no line is lost. */
function openPino(write: (line: string) => void): Pino {
  const { pino } = createRequire(import.meta.url)("pino") as typeof import("pino");
  return pino(
    { level: "debug", base: undefined, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => write(line.trimEnd()) },
  );
}

/** `warn  github/tool: message key=value`, also for a `subject` that is no tool; what a server writes to stderr becomes `github | text`. */
function logLine(
  level: LogLevel,
  message: string,
  fields: LogFields,
  { paint, apart }: Pick<LogOptions, "paint" | "apart">,
): string {
  const { server, stream, visit: _, ...rest } = fields;
  if (typeof server === "string" && stream === "stderr") {
    return `${paint("dim", `${oneLine(server)} |`)} ${plainText(message).replaceAll("\n", " ")}`;
  }
  // A resource or prompt is named like a tool: `docs/prompt:review`.
  const { ["tool" in rest ? "tool" : "subject"]: about, ...others } = rest;
  const isOfTool = typeof server === "string" && typeof about === "string";
  const name = isOfTool ? `${server}/${about}` : server;
  const from = typeof name === "string" ? `${oneLine(name)}: ` : "";
  // Fields without a value are left out, as in the JSON format.
  const pairs = Object.entries(isOfTool ? others : rest)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${paint("dim", `${key}=${fieldText(value)}`)}`);
  const [text = "", ...commands] = apart(oneLine(message));
  const line = `${paint(TONES[level], level.padEnd(5))} ${from}${text}${pairs.join("")}`;
  return [line, ...commands].join("\n");
}

function fieldText(value: unknown): string {
  const line = oneLine(asText(value), 300);
  return typeof value === "string" && /[\s"=]/.test(line) ? JSON.stringify(line) : line;
}
