// What takes secrets out of a text.

export interface RedactingStream {
  /** Returns the redacted text so far, without an end that may be the beginning of a secret. */
  push(chunk: string): string;
  /** Returns the rest. */
  end(): string;
}

/** Replaces every secret that a board knows with `[REDACTED]`, in the forms that it looks for in results. */
export interface BoardRedactor {
  text(text: string): string;
  /** The value without secrets in its strings and keys. Returns the same value if it has none, else a copy. */
  value<Value>(value: Value): Value;
  /** For a text that arrives in pieces. */
  stream(): RedactingStream;
}
