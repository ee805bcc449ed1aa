// The approvals in a state directory, for a person to review: which tools were always allowed, and to forget it.

import { approvalsFile, forgetApprovals, readApprovals } from "../guard/approval-store.ts";
import type { StoredApproval } from "../model/approval.ts";
import type { Clock } from "../util/clock.ts";

export class ApprovalReview {
  readonly #file: string;
  readonly #clock: Clock;

  constructor(stateDir: string, clock: Clock) {
    this.#file = approvalsFile(stateDir);
    this.#clock = clock;
  }

  /** Oldest first. */
  list(): Promise<StoredApproval[]> {
    return readApprovals(this.#file);
  }

  /** Boards that are open notice it with their next call. */
  async forget(approvals: readonly StoredApproval[]): Promise<void> {
    if (approvals.length > 0) await forgetApprovals(this.#file, this.#clock, approvals);
  }
}
