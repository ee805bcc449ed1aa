// In PostgreSQL: the answers "always", and the calls that wait for an answer. A question is gone when its replica is gone. All
// are sealed: what is shown to a person is what was asked, and nobody without the keys answers.

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
import type { SealedValues } from "./sealed-values.ts";

export class ApprovalRows implements ApprovalStore {
  readonly #postgres: Postgres;
  readonly #values: SealedValues;

  constructor(postgres: Postgres, values: SealedValues) {
    this.#postgres = postgres;
    this.#values = values;
  }

  async has(approval: ApprovalKey): Promise<boolean> {
    try {
      const key = keyOf(approval);
      const [row] = await this.#postgres.query(
        "select approval from plugboard_approvals where key = $1",
        [key],
      );
      return this.#values.tryOpen(row?.["approval"], approvalPlace(key)) !== undefined;
    } catch (error) {
      // Then the person is asked again.
      if (isAway(error)) return false;
      throw error;
    }
  }

  async add(approval: StoredApproval): Promise<void> {
    const key = keyOf(approval);
    const text = JSON.stringify({ ...approval, config: undefined });
    await this.#postgres.query(
      `insert into plugboard_approvals values ($1, $2, $3)
        on conflict (key) do update set approval = excluded.approval, at = excluded.at`,
      [key, this.#values.seal(text, approvalPlace(key)), approval.at],
    );
  }

  async list(): Promise<StoredApproval[]> {
    const rows = await this.#postgres.query(
      "select key, approval from plugboard_approvals order by at, key",
    );
    return rows
      .map(({ key, approval }) => this.#values.tryOpen(approval, approvalPlace(String(key))))
      .map((text) => tryParseJson(text ?? ""))
      .filter(isApproval);
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

function approvalPlace(key: string): string {
  return `approval ${key}`;
}

export interface PendingApprovalRowsOptions {
  postgres: Postgres;
  values: SealedValues;
  /** The one whose calls wait. */
  replica: string;
  clock: Pick<Clock, "now">;
}

export class PendingApprovalRows implements PendingApprovals {
  readonly #postgres: Postgres;
  readonly #values: SealedValues;
  readonly #replica: string;
  readonly #clock: Pick<Clock, "now">;

  constructor({ postgres, values, replica, clock }: PendingApprovalRowsOptions) {
    this.#postgres = postgres;
    this.#values = values;
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
        this.#values.seal(JSON.stringify(question), questionPlace(question.id)),
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
      "select id, question from plugboard_waiting where answer is null",
    );
    const now = this.#clock.now();
    const found = rows
      .map(({ id, question }) => this.#values.tryOpen(question, questionPlace(String(id))))
      .map((text) => tryParseJson(text ?? ""))
      .filter(isPendingApproval)
      .filter(({ expiresAt }) => expiresAt > now);
    return found.toSorted((a, b) => a.createdAt - b.createdAt);
  }

  async answer(question: PendingApproval, answer: PendingAnswer): Promise<boolean> {
    const digest = pendingDigest(question);
    const sealed = this.#values.seal(JSON.stringify(answer), answerPlace(digest));
    const rows = await this.#postgres.query(
      `update plugboard_waiting set answer = $3 where id = $1 and digest = $2 and answer is null
        and expires_at > $4 and exists (select 1 from plugboard_replicas r where r.id = replica and ${ALIVE})
        returning 1`,
      [question.id, digest, sealed, this.#clock.now()],
    );
    return rows.length > 0;
  }

  async answersTo(questions: readonly PendingApproval[]): Promise<Map<string, PendingAnswer>> {
    const digests = new Map(questions.map((each) => [each.id, pendingDigest(each)]));
    const rows = await this.#postgres.query(
      "select id, answer from plugboard_waiting where id = any($1) and answer is not null and expires_at > $2",
      [[...digests.keys()], this.#clock.now()],
    );
    const answers = new Map<string, PendingAnswer>();
    for (const { id, answer } of rows) {
      const place = answerPlace(digests.get(String(id)) ?? "");
      const value = tryParseJson(this.#values.tryOpen(answer, place) ?? "");
      if (isPendingAnswer(value)) answers.set(String(id), value);
    }
    return answers;
  }

  async remove({ id }: PendingApproval): Promise<void> {
    await this.#postgres
      .query("delete from plugboard_waiting where id = $1 and replica = $2", [id, this.#replica])
      .catch(() => {});
  }
}

function questionPlace(id: string): string {
  return `waiting ${id}`;
}

/** An answer is for one question, which has its id and its time in it. */
function answerPlace(digest: string): string {
  return `answer ${digest}`;
}
