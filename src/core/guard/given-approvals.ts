// Remembers for which tools the answer was "always": for one agent and one of its callers, by the hash of the
// tool's and its server's definition, so that the user is asked again when one of them changes. What is about a session's own server or about
// the host's own tools is not stored.

import type { StoredApproval } from "../types/approval.ts";
import type { ToolSubject } from "../types/guard.ts";
import type { ApprovalKey, ApprovalStore } from "../types/shared-state.ts";
import { type Clock, systemClock } from "../../util/clock.ts";

export interface GivenApprovalsOptions {
  /** Whose approvals they are. */
  agent: Pick<StoredApproval, "agent" | "config">;
  /** Without it, nothing outlives the process. */
  store?: ApprovalStore;
  clock?: Clock;
  /** The answer still counts in this process. */
  onWriteError?: (error: unknown) => void;
}

export class GivenApprovals {
  readonly #options: GivenApprovalsOptions;
  /** Approvals that end with this process: of sessions' own servers and of native tools. */
  readonly #granted = new Set<string>();

  constructor(options: GivenApprovalsOptions) {
    this.#options = options;
  }

  /** Whether an approval of the tool outlives the process. */
  keeps({ origin }: Pick<ToolSubject, "origin">): boolean {
    // A host's own tools write and run whatever is in reach of the session: another directory is another question.
    return this.#options.store !== undefined && origin !== "session" && origin !== "native";
  }

  async has(subject: ToolSubject, caller?: string): Promise<boolean> {
    if (this.#granted.has(sessionKey(subject, caller))) return true;
    const { store } = this.#options;
    if (store === undefined || !this.keeps(subject)) return false;
    return store.has(this.#keyOf(subject, caller));
  }

  /** Never rejects. */
  async add(subject: ToolSubject, caller?: string): Promise<void> {
    const { store, clock = systemClock, onWriteError = () => {} } = this.#options;
    if (store === undefined || !this.keeps(subject)) {
      this.#granted.add(sessionKey(subject, caller));
      return;
    }
    try {
      await store.add({ ...this.#keyOf(subject, caller), at: clock.now() });
    } catch (error) {
      this.#granted.add(sessionKey(subject, caller));
      onWriteError(error);
    }
  }

  #keyOf({ canonical: tool, hash }: ToolSubject, caller: string | undefined): ApprovalKey {
    return { ...this.#options.agent, tool, hash, ...(caller !== undefined && { caller }) };
  }
}

function sessionKey({ canonical, hash, origin }: ToolSubject, caller = ""): string {
  return JSON.stringify([origin === "session", canonical, hash, caller]);
}
