// Approvals that the client cannot ask its user for: the call waits while a person answers elsewhere, on the command
// line for example. Each call is a question of its own, so an answer is for its caller, its tool and its arguments.

import { createHash } from "node:crypto";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  AskElsewhere,
} from "../../../core/types/approval.ts";
import type { Caller } from "../../../core/types/caller.ts";
import { cancelled, PlugboardError } from "../../../core/types/errors.ts";
import type { Logger } from "../../../core/types/logger.ts";
import {
  MOST_ARGUMENT_BYTES,
  type PendingApproval,
  type PendingApprovals,
} from "../../../core/types/shared-state.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { deferred, type Deferred } from "../../../util/deferred.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { duration, oneLine, plainText, sayTool } from "../../../util/text.ts";

export interface WaitingApprovalsOptions {
  pending: PendingApprovals;
  clock: Clock;
  logger: Logger;
  random: (bytes: number) => Buffer;
  /** Milliseconds that a call waits for its answer. 0: it is refused at once. */
  waitMs: number;
}

/** How often answers are looked for, while a call waits. */
const LOOK_MS = 300;
const MOST_QUESTIONS = 1000;
const MOST_OF_ONE_CALLER = 32;
/** Without characters that look like others. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const ID_LENGTH = 8;

interface Waiting {
  question: PendingApproval;
  decided: Deferred<ApprovalAnswer | PlugboardError>;
}

export class WaitingApprovals {
  readonly #options: WaitingApprovalsOptions;
  readonly #waiting = new Set<Waiting>();
  #looker: Timer | undefined;
  #isClosed = false;

  constructor(options: WaitingApprovalsOptions) {
    this.#options = options;
  }

  /** How many calls wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** For the calls to one agent. */
  askFor(agent: string): AskElsewhere {
    return async (request, signal, { caller, tell }) => {
      const question = this.#question(request, caller, agent);
      const waiting: Waiting = { question, decided: deferred() };
      const { clock, waitMs } = this.#options;
      const onAbort = (): void => waiting.decided.resolve(cancelled());
      const timer = clock.after(waitMs, () => waiting.decided.resolve(tooLate(request, waitMs)));
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) onAbort();
      this.#waiting.add(waiting);
      try {
        await this.#put(question, tell);
        this.#lookLater();
        const decision = await waiting.decided.promise;
        if (decision instanceof PlugboardError) throw decision;
        return decision;
      } finally {
        timer.cancel();
        signal?.removeEventListener("abort", onAbort);
        this.#waiting.delete(waiting);
        await this.#options.pending.remove(question);
      }
    };
  }

  /** Refuses the calls that wait, and every later one. */
  close(): void {
    this.#isClosed = true;
    this.#looker?.cancel();
    for (const { question, decided } of this.#waiting) {
      const hint = "call it again when the gateway runs again";
      decided.resolve(
        refusal(question.request, "was not approved before the gateway stopped", hint),
      );
    }
  }

  /** Throws NOT_APPROVED if the call cannot wait. */
  #question(request: ApprovalRequest, caller: Caller, agent: string): PendingApproval {
    const { clock, waitMs } = this.#options;
    if (waitMs === 0 || this.#isClosed) {
      throw refusal(request, "must be approved and nobody can be asked", REMEDY);
    }
    const own = [...this.#waiting].filter(({ question }) => question.caller.id === caller.id);
    if (this.#waiting.size >= MOST_QUESTIONS || own.length >= MOST_OF_ONE_CALLER) {
      const hint = "wait until some of them have been answered: plugboard approvals";
      throw refusal(request, "must be approved, and too many calls wait for that already", hint);
    }
    if (Buffer.byteLength(JSON.stringify(request.args)) > MOST_ARGUMENT_BYTES) {
      throw refusal(request, "must be approved, and nobody can read arguments this long", REMEDY);
    }
    const createdAt = clock.now();
    return {
      id: this.#newId(),
      caller,
      agent,
      request,
      argsHash: hashOfArguments(request.args),
      createdAt,
      expiresAt: createdAt + waitMs,
    };
  }

  async #put(question: PendingApproval, tell: (message: string) => void): Promise<void> {
    const { pending, logger, waitMs } = this.#options;
    const { id, caller, request } = question;
    try {
      await pending.put(question);
    } catch (cause) {
      const why = oneLine(errorMessage(cause), 300);
      throw refusal(request, `must be approved, and nobody can be asked: ${why}`, REMEDY, cause);
    }
    const tool = oneLine(request.tool, 200);
    const command = `plugboard approvals allow ${id}`;
    tell(`waits for approval of ${tool}: ${command}`);
    const who = oneLine(caller.label, 100);
    logger.warn(
      `a call of ${who} waits up to ${duration(waitMs)} for approval of ${tool}: ${command}`,
    );
  }

  #lookLater(): void {
    if (this.#looker !== undefined || this.#isClosed || this.#waiting.size === 0) return;
    this.#looker = this.#options.clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const all = [...this.#waiting];
    const { pending, logger } = this.#options;
    try {
      const answers = await pending.answersTo(all.map(({ question }) => question));
      for (const { question, decided } of all) {
        const answer = answers.get(question.id);
        if (typeof answer === "object") {
          const why = `was not approved, and whoever decided says: ${plainText(answer.refuse)}`;
          decided.resolve(refusal(question.request, why, "do not call it again like this"));
        } else if (answer !== undefined) decided.resolve(answer);
      }
    } catch (error) {
      logger.warn(`answers to approvals cannot be read: ${errorMessage(error)}`);
    }
    this.#looker = undefined;
    this.#lookLater();
  }

  #newId(): string {
    const bytes = this.#options.random(ID_LENGTH);
    return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("");
  }
}

const REMEDY =
  'use a client that can show forms (elicitation), or a token and a tool whose "approval" is "never"; if gateway.approvalWait is set, calls wait until somebody answers with: plugboard approvals';

function tooLate(request: ApprovalRequest, waitMs: number): PlugboardError {
  const hint = "call it again, and answer with: plugboard approvals";
  return refusal(request, `was not approved within ${duration(waitMs)}`, hint);
}

function refusal(
  { tool, server }: ApprovalRequest,
  what: string,
  hint: string,
  cause?: unknown,
): PlugboardError {
  return new PlugboardError("NOT_APPROVED", `${sayTool(tool)} ${what}`, { server, hint, cause });
}

function hashOfArguments(args: object): string {
  return createHash("sha256").update(canonicalJson(args)).digest("hex");
}
