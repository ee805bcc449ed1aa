// Asks the model for a step, and again where that can help: with growing pauses, or the one it asks for.

import { PlugboardError } from "../model/errors.ts";
import { type Clock, pause } from "../util/clock.ts";
import { duration } from "../util/text.ts";
import type { AgentModel } from "./model.ts";
import { type ModelFailure, toModelFailure } from "./model-failure.ts";
import type { StepEnd } from "./step.ts";
import type { TurnEvent } from "./turn-event.ts";

const ATTEMPTS = 5;
const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
/** Nobody sits through more than this. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const JITTER = 0.2;

export interface AskOptions {
  model: AgentModel;
  signal: AbortSignal;
  clock: Clock;
  /** 0 ≤ n < 1. */
  random: () => number;
  onEvent: (event: Extract<TurnEvent, { type: "retry" }>) => void;
}

export type Answer =
  | Exclude<StepEnd, { kind: "broken" }>
  | { kind: "failed"; failure: ModelFailure };

/** Does not reject, as `ask` must not. */
export async function askModel(
  ask: () => Promise<StepEnd>,
  { model, signal, clock, random, onEvent }: AskOptions,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const end = await ask();
    if (end.kind !== "broken") return end;
    const failure = await toModelFailure(end.error, model, clock.now());
    const { canRetry, retryAfter, error } = failure;
    if (!canRetry) return { kind: "failed", failure };
    if (attempt === ATTEMPTS) return { kind: "failed", failure: gaveUp(failure) };
    if (retryAfter !== undefined && retryAfter > LONGEST_RETRY_AFTER_MS) {
      return { kind: "failed", failure: withHint(failure, `try again in ${duration(retryAfter)}`) };
    }
    const spread = 1 + JITTER * (2 * random() - 1);
    const delayMs = retryAfter ?? Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1)) * spread;
    onEvent({ type: "retry", attempt, delayMs, reason: error.message });
    await pause(clock, delayMs, signal);
    if (signal.aborted) return { kind: "cancelled", text: "" };
  }
}

function gaveUp(failure: ModelFailure): ModelFailure {
  return withHint(failure, `asked ${ATTEMPTS} times in vain: try again later`);
}

function withHint(failure: ModelFailure, hint: string): ModelFailure {
  const { code, message, cause, status } = failure.error;
  const details = { cause, hint, ...(status !== undefined && { status }) };
  return { ...failure, error: new PlugboardError(code, message, details) };
}
