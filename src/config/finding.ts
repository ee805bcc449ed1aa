// One thing a check noticed, before it is known in which file and on which line it stands.

/** Steps from the root of a configuration. */
export type Path = readonly (string | number)[];

/** As an editor counts, from 1. */
export interface Place {
  line: number;
  column: number;
}

export interface Finding {
  path: Path;
  /** Whether the reader should look at the key or at its value. */
  at: "key" | "value";
  message: string;
  /** The nearest valid word, for a typo. */
  suggestion?: string;
  /** Where it is, when the path alone does not tell: a key that is there twice. */
  place?: Place;
}

export function atKey(path: Path, message: string, suggestion?: string): Finding {
  return { path, at: "key", message, ...(suggestion !== undefined && { suggestion }) };
}

export function atValue(path: Path, message: string, suggestion?: string): Finding {
  return { path, at: "value", message, ...(suggestion !== undefined && { suggestion }) };
}
