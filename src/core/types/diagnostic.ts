// Something you should know about a server that does not stop it: an excluded tool, a capped list, a dropped line.

export interface Diagnostic {
  server: string;
  /** The tool, resource, prompt or line it is about, if it is not about the whole server. */
  subject?: string;
  message: string;
  /** For programs. Absent: something else. */
  kind?: DiagnosticKind;
  /** With the kind "pins": what is refused until a person decides, since it has changed or since the pins are lost. */
  refused?: "changed" | "lost";
}

export type DiagnosticKind =
  /** What a server says about a tool looks like an attempt to steer a model. */
  | "suspicious"
  /** A tool copies the definition of another server's tool. */
  | "double"
  /** It differs from its pin, or the pins are lost. */
  | "pins"
  /** It is not offered, because its definition is not valid. */
  | "left-out"
  /** The server runs, and has said that a key or a file is missing. */
  | "missing"
  /** The server runs, and answers the request for its tools with an error. */
  | "unlisted"
  /** The server speaks another transport than the configured one. */
  | "transport"
  /** A rule matches nothing of the server. */
  | "rule"
  /** An entry of `resourceFilter` matches nothing of the server. */
  | "filter";

/** `search: it is not offered` */
export function diagnosticText({
  subject,
  message,
}: Pick<Diagnostic, "subject" | "message">): string {
  return subject === undefined ? message : `${subject}: ${message}`;
}

/** Whether a person should look at a tool before a model uses it. */
export function isSuspicious({ kind }: Diagnostic): boolean {
  return kind === "suspicious" || kind === "double";
}
