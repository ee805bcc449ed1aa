// The references to secrets in a configuration, as people see them: who uses each, and whether it could be resolved.

/** A reference, as it is written. Never its value. */
export interface SecretUse {
  /** `secret://vault/app#token` */
  reference: string;
  provider: string;
  users: SecretUser[];
  /** The last time that somebody needed it. Absent if nobody has yet. */
  last?: ResolvedSecret;
}

interface SecretUser {
  /** Absent for the key of a model provider. */
  server?: string;
  /** `env.TOKEN`, `headers.Authorization` */
  key: string;
}

export interface ResolvedSecret {
  /** Milliseconds since the epoch. */
  at: number;
  /** Why it could not be resolved. */
  failure?: { message: string; hint?: string };
}

export interface SecretReview {
  /** In the order of the configuration. */
  list(): SecretUse[];
  /** Asks the provider anew. Rejects with INVALID_ARGUMENTS for a reference that is not in the configuration. */
  check(reference: string): Promise<SecretUse>;
}
