// In PostgreSQL: the answers "always", and the calls that wait for an answer. A question is gone when its replica is gone.

import type { StoredApproval } from "../../types/approval.ts";
import { tryParseJson } from "../../types/json.ts";
import type {
  ApprovalKey,
  ApprovalStore,
  PendingAnswer,
  PendingApproval,
  PendingApprovals,
} from "../../types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { storedKey, isApproval } from "../stored-approval.ts";
import { isPendingAnswer, isPendingApproval, pendingDigest } from "../stored-pending-approval.ts";
import { isAway, type Postgres } from "./postgres.ts";
import { ALIVE } from "./revisions.ts";

export class ApprovalRows implements ApprovalStore {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async has(approval: ApprovalKey): Promise<boolean> {
    try {
      const rows = await this.#postgres.query("select 1 from plugboard_approvals where key = $1", [
        keyOf(approval),
      ]);
      return rows.length > 0;
    } catch (error) {
      // Then the person is asked again.
      if (isAway(error)) return false;
      throw error;
    }
  }

  async add(approval: StoredApproval): Promise<void> {
    await this.#postgres.query(
      `insert into plugboard_approvals values ($1, $2, $3)
        on conflict (key) do update set approval = excluded.approval, at = excluded.at`,
      [keyOf(approval), JSON.stringify({ ...approval, config: undefined }), approval.at],
    );
  }

  async list(): Promise<StoredApproval[]> {
    const rows = await this.#postgres.query(
      "select approval from plugboard_approvals order by at, key",
    );
    return rows.map(({ approval }) => tryParseJson(String(approval))).filter(isApproval);
  }

  async forget(approvals: readonly ApprovalKey[]): Promise<void> {
    if (approvals.length === 0) return;
    await this.#postgres.query("delete from plugboard_approvals where key = any($1)", [
      approvals.map(keyOf),
    ]);
  }
}

/** Where a machine has the file of the configuration does not count: all of them run with the same. */
function keyOf(approval: ApprovalKey): string {
  return storedKey({ ...approval, config: "" });
}

export class PendingApprovalRows implements PendingApprovals {
  readonly #postgres: Postgres;
  readonly #replica: string;
  readonly #clock: Pick<Clock, "now">;

  /** `replica` is the one whose calls wait. */
  constructor(postgres: Postgres, replica: string, clock: Pick<Clock, "now">) {
    this.#postgres = postgres;
    this.#replica = replica;
    this.#clock = clock;
  }

  async put(question: PendingApproval): Promise<void> {
    await this.#postgres.query(
      `insert into plugboard_waiting (id, replica, digest, question, expires_at)
        values ($1, $2, $3, $4, $5)`,
      [
        question.id,
        this.#replica,
        pendingDigest(question),
        JSON.stringify(question),
        question.expiresAt,
      ],
    );
  }

  async list(): Promise<PendingApproval[]> {
    // By the engine's clock, and not at once: one whose clock is wrong must not take the questions of the others away.
    const gone = `expires_at < extract(epoch from now()) * 1000 - 86400000
      or not exists (select 1 from plugboard_replicas r where r.id = replica and ${ALIVE})`;
    await this.#postgres.query(`delete from plugboard_waiting where ${gone}`);
    const rows = await this.#postgres.query(
      "select question from plugboard_waiting where answer is null and expires_at > $1",
      [this.#clock.now()],
    );
    const found = rows
      .map(({ question }) => tryParseJson(String(question)))
      .filter(isPendingApproval);
    return found.toSorted((a, b) => a.createdAt - b.createdAt);
  }

  async answer(question: PendingApproval, answer: PendingAnswer): Promise<boolean> {
    const rows = await this.#postgres.query(
      `update plugboard_waiting set answer = $3 where id = $1 and digest = $2 and answer is null
        and expires_at > $4 and exists (select 1 from plugboard_replicas r where r.id = replica and ${ALIVE})
        returning 1`,
      [question.id, pendingDigest(question), JSON.stringify(answer), this.#clock.now()],
    );
    return rows.length > 0;
  }

  async answersTo(questions: readonly PendingApproval[]): Promise<Map<string, PendingAnswer>> {
    const digests = new Map(questions.map((each) => [each.id, pendingDigest(each)]));
    const rows = await this.#postgres.query(
      "select id, digest, answer from plugboard_waiting where id = any($1) and answer is not null and expires_at > $2",
      [[...digests.keys()], this.#clock.now()],
    );
    const answers = new Map<string, PendingAnswer>();
    for (const { id, digest, answer } of rows) {
      const value = tryParseJson(String(answer));
      if (digests.get(String(id)) === digest && isPendingAnswer(value))
        answers.set(String(id), value);
    }
    return answers;
  }

  async remove({ id }: PendingApproval): Promise<void> {
    await this.#postgres
      .query("delete from plugboard_waiting where id = $1 and replica = $2", [id, this.#replica])
      .catch(() => {});
  }
}
