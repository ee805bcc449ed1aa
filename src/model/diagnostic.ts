// Something you should know about a server that does not stop it: an excluded tool, a capped list, a dropped line.

export interface Diagnostic {
  server: string;
  /** The tool, resource, prompt or line it is about, if it is not about the whole server. */
  subject?: string;
  message: string;
}
