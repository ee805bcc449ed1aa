// The API keys of model providers that a person has given to Plugboard. They are used where neither the configuration
// nor the environment has one.

export type GivenKey =
  | { kind: "key"; key: string }
  /** It is kept elsewhere. `since` tells one key from the next, which has the same reference. */
  | { kind: "reference"; reference: string; since: number };

export interface ModelKeys {
  /** By the provider's name. Empty if there is none, and if they cannot be read. */
  read(): Promise<ReadonlyMap<string, GivenKey>>;
  /** Takes the place of the provider's earlier key. */
  store(provider: string, key: GivenKey): Promise<void>;
  /** Without a provider it forgets all keys. Resolves to what was there. */
  forget(provider?: string): Promise<ReadonlyMap<string, GivenKey>>;
}
