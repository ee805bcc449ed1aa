// Something a reader should know that stopped nothing: an excluded tool, a capped list, a dropped line.

export interface Diagnostic {
  server: string;
  /** What it is about, where that is smaller than the server: a tool, a line. */
  subject?: string;
  message: string;
}
