// Roots: the directories that servers may ask for.

export interface Root {
  /** A `file:` URL. */
  uri: string;
  name: string;
}

export interface RootsSource {
  /** Undefined if there are no roots; then the capability is not advertised to servers. */
  list(): readonly Root[] | undefined;
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}
