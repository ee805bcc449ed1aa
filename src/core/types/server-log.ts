// The log messages that servers send, and the levels they have in MCP.

import type { LogLevel } from "./logger.ts";

/** From the least to the most severe. */
export const SERVER_LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type ServerLogLevel = (typeof SERVER_LOG_LEVELS)[number];

/** Cleaned: short, without secrets and invisible characters. */
export interface ServerLogMessage {
  level: ServerLogLevel;
  /** The part of the server that logged it. */
  logger?: string;
  /** A text, or JSON. What is large is the beginning of its text. */
  data: unknown;
  /** The id of the call that it belongs to, if that is certain. */
  callId?: string;
}

/** A line about a server in the log of a gateway. */
export interface ServerLine {
  /** Milliseconds since the epoch. */
  at: number;
  server: string;
  level: LogLevel;
  /** `stderr`, or `log` for a message of the protocol. Absent for what the gateway says about the server. */
  stream?: string;
  text: string;
}

/** The last of these lines. */
export interface ServerLines {
  /** The oldest first. */
  lines(): readonly ServerLine[];
  /** Hears of every new line. Returns a function that removes the listener. */
  listen(listener: (line: ServerLine) => void): () => void;
}

/** The lowest level that servers should send now. */
export interface LogLevelSource {
  current(): ServerLogLevel;
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}
