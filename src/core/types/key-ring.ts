// The keys that seal what a client keeps for the gateway.

import type { KeyObject } from "node:crypto";

export interface SealKey {
  /** 0 to 255: it is one byte of what the key sealed. */
  id: number;
  /** 256 bits. */
  key: KeyObject;
}

export interface KeyRing {
  /** Seals what is new. */
  readonly current: SealKey;
  find(id: number): SealKey | undefined;
}
