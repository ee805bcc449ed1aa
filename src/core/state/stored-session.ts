// What is remembered of one session, wherever it is stored.

import { type JsonObject, textsIn } from "../types/json.ts";
import type { SessionNotes } from "../types/shared-state.ts";

export interface StoredSession {
  expiresAt: number;
  isRevoked: boolean;
  notes?: SessionNotes;
}

/** Another version may have written them: what is not as it must be is left out. */
export function notesIn({ logLevel, subscriptions }: JsonObject): SessionNotes {
  return {
    ...(typeof logLevel === "string" && { logLevel }),
    ...(Array.isArray(subscriptions) && { subscriptions: textsIn(subscriptions) }),
  };
}
