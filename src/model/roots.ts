// The directories that a host works in, as its servers may ask for them.

export interface Root {
  /** A `file:` URL. */
  uri: string;
  name: string;
}

export interface RootsSource {
  /** Undefined where the host has no such directories: then they are not offered. */
  list(): readonly Root[] | undefined;
  /** Returns what takes the listener off again. */
  onChange(listener: () => void): () => void;
}
