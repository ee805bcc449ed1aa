// Something you should know about a server that does not stop it: an excluded tool, a capped list, a dropped line.

export interface Diagnostic {
  server: string;
  /** The tool, resource, prompt or line it is about, if it is not about the whole server. */
  subject?: string;
  message: string;
  /** What a server says about a tool looks like an attempt to steer a model. */
  kind?: "suspicious";
}

export function isSuspicious({ kind }: Diagnostic): boolean {
  return kind === "suspicious";
}
