// The API keys of model providers that a person has given to Plugboard. They are used where neither the configuration
// nor the environment has one.

export interface ModelKeys {
  /** By the provider's name. Empty if there is none, and if they cannot be read. */
  read(): Promise<ReadonlyMap<string, string>>;
  /** Takes the place of the provider's earlier key. */
  store(provider: string, key: string): Promise<void>;
  /** Without a provider it forgets all keys. Resolves to the providers whose key was there. */
  forget(provider?: string): Promise<string[]>;
}
