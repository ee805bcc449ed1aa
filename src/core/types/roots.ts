// Roots: the directories that servers may ask for, and the settings that decide which server gets them.

export interface Root {
  /** A `file:` URL. */
  uri: string;
  name: string;
}

/**
 * As configured for one server or for all of an agent. `true` stands for the working directory, `false` for no
 * roots. The directories may contain `${VAR}`; relative ones are relative to `baseDir`.
 */
export type RootsSetting = boolean | { directories: readonly string[]; baseDir?: string };

export interface RootsSource {
  /** Undefined if there are no roots; then the capability is not advertised to servers. */
  list(): readonly Root[] | undefined;
  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
}
