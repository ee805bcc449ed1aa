// What went wrong with a request to the model: in words for a person, and whether asking again can help.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import { oneLine } from "../util/text.ts";
import type { AgentModel } from "./model.ts";

export interface ModelFailure {
  error: PlugboardError;
  canRetry: boolean;
  /** Milliseconds that the model asks to be left alone. */
  retryAfter?: number;
  /** The request may have been too large: `certain` where the model says so. */
  tooLarge: "no" | "maybe" | "certain";
}

const LONGEST_REASON = 500;

/** `given` is undefined for an answer that ended without an end. */
export async function toModelFailure(
  given: unknown,
  model: Pick<AgentModel, "id" | "redact">,
  now: number,
): Promise<ModelFailure> {
  const sdk = await import("ai");
  const error = ownErrorIn(given) ?? given;
  const reason = oneLine(model.redact(reasonOf(error)), LONGEST_REASON).replace(/\.$/, "");
  const because = reason === "" ? "" : `: ${reason}`;
  const aboutRequest = [
    sdk.InvalidPromptError,
    sdk.InvalidArgumentError,
    sdk.UnsupportedFunctionalityError,
  ];
  if (aboutRequest.some((each) => each.isInstance(error))) {
    const message = `the model ${model.id} cannot be asked this${because}`;
    const unsupported = new PlugboardError("UNSUPPORTED", message, { cause: error });
    return { error: unsupported, canRetry: false, tooLarge: "no" };
  }
  if (error instanceof PlugboardError) {
    const { code, permanent, cause, hint } = error;
    const details = { cause, hint: hint ?? "check the network, and baseUrl of its provider" };
    const message = `the connection to the model ${model.id} failed${because}`;
    return {
      error: new PlugboardError(code, message, details),
      canRetry: !permanent && code !== "REFUSED_ADDRESS",
      tooLarge: "no",
    };
  }
  if (!sdk.APICallError.isInstance(error) || error.statusCode === undefined) {
    const message = `the answer of the model ${model.id} broke off${because}`;
    const broken = new PlugboardError("PROTOCOL", message, { cause: error });
    return { error: broken, canRetry: true, tooLarge: "no" };
  }
  const { statusCode: status, responseHeaders: headers = {}, isRetryable } = error;
  const hint = hintFor(status);
  const code = status === 401 || status === 403 ? "NEEDS_AUTH" : "HTTP_STATUS";
  const retryAfter = retryAfterOf(headers, now);
  return {
    error: new PlugboardError(code, `the model ${model.id} answered with ${status}${because}`, {
      status,
      ...(hint !== undefined && { hint }),
    }),
    canRetry: isRetryable && headers["x-should-retry"] !== "false",
    ...(retryAfter !== undefined && { retryAfter }),
    tooLarge: sizeVerdict(status, error.data),
  };
}

/** What the network said, which the SDK may have put into an error of its own. */
function ownErrorIn(error: unknown): PlugboardError | undefined {
  if (error instanceof PlugboardError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof PlugboardError ? cause : undefined;
}

function reasonOf(error: unknown): string {
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
    case 429:
      return "the limit of the account is reached: try again later";
    default:
      return undefined;
  }
}

function sizeVerdict(status: number, data: unknown): ModelFailure["tooLarge"] {
  if (status === 413) return "certain";
  if (status !== 400) return "no";
  const error = isJsonObject(data) && isJsonObject(data["error"]) ? data["error"] : {};
  return error["code"] === "context_length_exceeded" ? "certain" : "maybe";
}

/** Seconds, or a date; one header is in milliseconds. */
function retryAfterOf(headers: Record<string, string>, now: number): number | undefined {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (exact >= 0) return exact;
  const given = headers["retry-after"];
  if (given === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(given) ? Number(given) * 1000 : Date.parse(given) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
