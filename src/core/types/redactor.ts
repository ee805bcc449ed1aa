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
  /** While a gateway runs servers of the board: takes out the secrets that only the gateway knows. */
  readonly elsewhere?: RedactorElsewhere | undefined;
}

/** Takes out secrets that this process does not know and does not get. Rejects if they could not be looked for. */
export interface RedactorElsewhere {
  texts(texts: readonly string[]): Promise<readonly string[]>;
  /**
   * Like a stream that has held `text` back and is given nothing more, or its end. The first `covered` characters belong
   * to a secret that is marked already.
   */
  beginning(text: string, covered: number, isEnd: boolean): Promise<RedactedBeginning>;
}

export interface RedactedBeginning {
  text: string;
  /** How many characters at the end of what was given may be the beginning of a secret. */
  held: number;
  /** How many of these belong to a secret that is marked in `text`. */
  covered: number;
}
