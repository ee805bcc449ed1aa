// Calls that wait for a person's approval, where whoever may answer finds them: the process with the call puts a
// question here, another one answers it. An answer is for one question only, and counts for nothing after it has expired.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import {
  MOST_ARGUMENT_BYTES,
  type PendingAnswer,
  type PendingApproval,
  type PendingApprovals,
} from "../../types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { ownerName, ownerState } from "../process-owner.ts";
import { isPendingAnswer, isPendingApproval, pendingDigest } from "../stored-pending-approval.ts";

const FORMAT = 1;
const MAX_BYTES = 16 * MOST_ARGUMENT_BYTES;
const ID = /^[a-z0-9]{4,32}$/;
const ANSWER = ".answer.json";

/** Two files each: the question, and beside it the answer. */
export class PendingApprovalFiles implements PendingApprovals {
  readonly #directory: string;
  readonly #clock: Pick<Clock, "now">;

  constructor(stateDir: string, clock: Pick<Clock, "now">) {
    this.#directory = join(stateDir, "gateway", "approvals");
    this.#clock = clock;
  }

  async put(question: PendingApproval): Promise<void> {
    const owner = ownerName();
    await writeJsonFile(this.#questionFile(question.id), { format: FORMAT, owner, question });
  }

  async list(): Promise<PendingApproval[]> {
    const names = await this.#names();
    const ids = names.flatMap((name) => {
      const id = name.endsWith(ANSWER) ? "" : name.replace(/\.json$/, "");
      return ID.test(id) ? [id] : [];
    });
    const answered = new Set(names.filter((name) => name.endsWith(ANSWER)));
    const found: PendingApproval[] = [];
    for (const id of ids) {
      const question = await this.#read(id);
      if (question === undefined) await this.#removeFiles(id);
      else if (!answered.has(id + ANSWER)) found.push(question);
    }
    return found.toSorted((a, b) => a.createdAt - b.createdAt);
  }

  async answer(question: PendingApproval, answer: PendingAnswer): Promise<boolean> {
    const { id } = question;
    const current = await this.#read(id);
    if (current === undefined || pendingDigest(current) !== pendingDigest(question)) return false;
    const value = { format: FORMAT, question: pendingDigest(question), answer };
    await writeJsonFile(this.#answerFile(id), value);
    return true;
  }

  async answersTo(questions: readonly PendingApproval[]): Promise<Map<string, PendingAnswer>> {
    const names = new Set(await this.#names());
    const answers = new Map<string, PendingAnswer>();
    for (const question of questions) {
      if (!names.has(question.id + ANSWER)) continue;
      const value = await readJsonFile(this.#answerFile(question.id), MAX_BYTES);
      const isOurs =
        isJsonObject(value) &&
        value.format === FORMAT &&
        value.question === pendingDigest(question);
      if (isOurs && isPendingAnswer(value.answer) && this.#clock.now() < question.expiresAt) {
        answers.set(question.id, value.answer);
      }
    }
    return answers;
  }

  async remove({ id }: PendingApproval): Promise<void> {
    await this.#removeFiles(id);
  }

  async #names(): Promise<string[]> {
    return readdir(this.#directory).catch(() => []);
  }

  /** Undefined if nobody waits for the answer: it has expired, or its process is gone. */
  async #read(id: string): Promise<PendingApproval | undefined> {
    const value = await readJsonFile(this.#questionFile(id), MAX_BYTES);
    if (!isJsonObject(value) || value.format !== FORMAT || !isPendingApproval(value.question)) {
      return undefined;
    }
    const isOver = value.question.expiresAt <= this.#clock.now();
    const isGone = typeof value.owner !== "string" || ownerState(value.owner) === "gone";
    return isOver || isGone || value.question.id !== id ? undefined : value.question;
  }

  async #removeFiles(id: string): Promise<void> {
    for (const file of [this.#questionFile(id), this.#answerFile(id)]) {
      await rm(file, { force: true }).catch(() => {});
    }
  }

  #questionFile(id: string): string {
    return join(this.#directory, `${id}.json`);
  }

  #answerFile(id: string): string {
    return join(this.#directory, id + ANSWER);
  }
}
