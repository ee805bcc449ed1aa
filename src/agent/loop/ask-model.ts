// Asks the model for a step, and retries failures that may pass: with growing pauses, or after the time that the
// model asks for. Other failures become errors that tell the user what to do.

import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, objectIn } from "../../core/types/json.ts";
import { pause } from "../../util/clock.ts";
import { retryAfterMs } from "../../util/retry-after.ts";
import { systemProblem } from "../../util/system-problem.ts";
import { duration, oneLine } from "../../util/text.ts";
import type { AgentModel } from "./model.ts";
import { runStep, type StepEnd, type StepEvent, type StepOptions } from "./step.ts";

const ATTEMPTS = 5;
const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;
/** If the model asks for a longer pause, the turn fails: nobody waits that long. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const JITTER = 0.2;
const LONGEST_REASON = 500;

/** The model is asked again after `delayMs`. What it says then replaces what it has said in this step. */
export interface RetryEvent {
  type: "retry";
  attempt: number;
  delayMs: number;
  reason: string;
}

export interface AskOptions extends Omit<StepOptions, "onEvent"> {
  onEvent: (event: StepEvent | RetryEvent) => void;
  /** 0 ≤ n < 1. */
  random: () => number;
}

export type ModelAnswer =
  | Exclude<StepEnd, { kind: "broken" | "silent" }>
  /** `text` is what the model has said, in the last attempt in which it said something. */
  | { kind: "failed"; failure: ModelFailure; text: string };

interface ModelFailure {
  /** `permanent` if the same request would fail again. */
  error: PlugboardError;
  /** Whether to ask again at once, instead of leaving that to the user. */
  canRetry: boolean;
  /** The pause in milliseconds that the model asks for. */
  retryAfter?: number;
  /** Whether the request was too large: `certain` if the model says so. */
  tooLarge: "no" | "maybe" | "certain";
}

/** Does not reject. */
export async function askModel({ random, ...step }: AskOptions): Promise<ModelAnswer> {
  const { model, signal, onEvent, clock } = step;
  let text = "";
  const failed = (failure: ModelFailure): ModelAnswer => ({ kind: "failed", failure, text });
  for (let attempt = 1; ; attempt += 1) {
    const end = await runStep(step);
    if (end.kind === "answered") return end;
    text = end.text || text;
    if (end.kind === "cancelled") return { kind: "cancelled", text };
    if (end.kind === "silent") return failed(silentModel(model));
    const failure = toModelFailure(end.error, model, clock.now());
    const { canRetry, retryAfter, error } = failure;
    if (!canRetry) return failed(failure);
    if (attempt === ATTEMPTS) {
      // Where nothing has answered, waiting alone may not help.
      const advice = (error.status === undefined ? error.hint : undefined) ?? "try again later";
      return failed(withHint(failure, `${ATTEMPTS} attempts failed: ${advice}`));
    }
    if (retryAfter !== undefined && retryAfter > LONGEST_RETRY_AFTER_MS) {
      return failed(withHint(failure, `try again in ${duration(retryAfter)}`));
    }
    const spread = 1 + JITTER * (2 * random() - 1);
    const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1)) * spread;
    const delayMs = Math.round(retryAfter ?? backoff);
    onEvent({ type: "retry", attempt, delayMs, reason: error.message });
    await pause(clock, delayMs, signal);
    if (signal.aborted) return { kind: "cancelled", text };
  }
}

function withHint(failure: ModelFailure, hint: string): ModelFailure {
  const { code, message, cause, status } = failure.error;
  return { ...failure, error: new PlugboardError(code, message, { cause, hint, status }) };
}

/** Asking again at once would double a wait that was too long already. */
function silentModel({ id, silence }: Pick<AgentModel, "id" | "silence">): ModelFailure {
  const message = `the model ${id} said nothing for ${duration(silence.timeout)}`;
  const hint = 'try again; if it needs more time to think, set a longer "modelTimeout"';
  const error = new PlugboardError("TIMEOUT", message, { hint });
  return { error, canRetry: false, tooLarge: "no" };
}

/** `given` is undefined for an answer that stopped without a finish reason. */
function toModelFailure(
  given: unknown,
  { id, sdk, redact }: Pick<AgentModel, "id" | "sdk" | "redact">,
  now: number,
): ModelFailure {
  const error = networkErrorIn(given) ?? given;
  const reason = oneLine(redact(reasonOf(error)), LONGEST_REASON).replace(/\.$/, "");
  const because = reason === "" ? "" : `: ${reason}`;
  const aboutRequest = [
    sdk.InvalidPromptError,
    sdk.InvalidArgumentError,
    sdk.UnsupportedFunctionalityError,
  ];
  if (aboutRequest.some((each) => each.isInstance(error))) {
    const message = `the model ${id} does not support this request${because}`;
    const details = { cause: error, permanent: true };
    const unsupported = new PlugboardError("UNSUPPORTED", message, details);
    return { error: unsupported, canRetry: false, tooLarge: "no" };
  }
  if (error instanceof PlugboardError) {
    const { code, permanent, cause, hint } = error;
    const canRetry = !permanent && code !== "REFUSED_ADDRESS";
    const message = `the connection to the model ${id} failed${because}`;
    const details = {
      cause,
      hint: hint ?? "check the network, and baseUrl of its provider",
      permanent: !canRetry,
    };
    return { error: new PlugboardError(code, message, details), canRetry, tooLarge: "no" };
  }
  if (!sdk.APICallError.isInstance(error) || error.statusCode === undefined) {
    const message = `the answer of the model ${id} broke off${because}`;
    const broken = new PlugboardError("PROTOCOL", message, { cause: error });
    return { error: broken, canRetry: true, tooLarge: "no" };
  }
  const { statusCode: status, responseHeaders: headers = {}, isRetryable } = error;
  const code = status === 401 || status === 403 ? "NEEDS_AUTH" : "HTTP_STATUS";
  const message = `the model ${id} answered with ${status}${because}`;
  const canRetry = isRetryable && headers["x-should-retry"] !== "false";
  const details = { status, hint: hintFor(status), permanent: !canRetry };
  return {
    error: new PlugboardError(code, message, details),
    canRetry,
    retryAfter: retryAfterOf(headers, now),
    tooLarge: isTooLarge(status, error.data),
  };
}

/** The SDK may wrap the error that our network gave it. */
function networkErrorIn(error: unknown): PlugboardError | undefined {
  if (error instanceof PlugboardError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof PlugboardError ? cause : undefined;
}

function reasonOf(error: unknown): string {
  // A package that reads the answer may overflow the stack.
  if (error instanceof RangeError) return systemProblem(error)?.message ?? error.message;
  if (error instanceof Error) return error.message;
  if (typeof error === "string") return error;
  const message = isJsonObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? message : "";
}

function hintFor(status: number): string | undefined {
  switch (status) {
    case 401:
    case 403:
      return "check the API key";
    case 404:
      return "check the name of the model";
    case 413:
      return "the conversation is too large for the model: start a new one";
    case 429:
      return "the limit of the account is reached: try again later";
    default:
      return undefined;
  }
}

function isTooLarge(status: number, data: unknown): ModelFailure["tooLarge"] {
  if (status === 413) return "certain";
  if (status !== 400) return "no";
  const error = objectIn(objectIn(data)["error"]);
  return error["code"] === "context_length_exceeded" ? "certain" : "maybe";
}

function retryAfterOf(headers: Record<string, string>, now: number): number | undefined {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  return exact >= 0 ? exact : retryAfterMs(headers["retry-after"], now);
}
