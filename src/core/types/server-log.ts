// The log messages that servers send, and the levels they have in MCP.

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

/** The lowest level that servers should send now. */
export interface LogLevelSource {
  current(): ServerLogLevel;
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}
