// A log entry as a line for people.

import type { LogFields, LogLevel } from "../../../model/logger.ts";
import { oneLine, plainText } from "../../../util/text.ts";
import type { Paint, Tone } from "./paint.ts";

const TONES: Readonly<Record<LogLevel, Tone>> = {
  debug: "dim",
  info: "cyan",
  warn: "yellow",
  error: "red",
};

/** `warn  github: message key=value`; what a server wrote to stderr is `github | text`. */
export function logLine(level: LogLevel, message: string, fields: LogFields, paint: Paint): string {
  const { server, stream, ...rest } = fields;
  const text = oneLine(message);
  if (typeof server === "string" && stream === "stderr") {
    return `${paint("dim", `${oneLine(server)} |`)} ${plainText(message).replaceAll("\n", " ")}`;
  }
  const from = typeof server === "string" ? `${oneLine(server)}: ` : "";
  const pairs = Object.entries(rest).map(
    ([key, value]) => ` ${paint("dim", `${key}=${said(value)}`)}`,
  );
  return `${paint(TONES[level], level.padEnd(5))} ${from}${text}${pairs.join("")}`;
}

function said(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const line = oneLine(text, 300);
  return typeof value === "string" && /[\s"=]/.test(line) ? JSON.stringify(line) : line;
}
