// Where a failure leads: to another attempt, to somebody who has to sign in, or to the end.

import type { PlugboardError } from "../model/errors.ts";
import type { LogFields } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ServerState } from "../model/server-state.ts";
import type { Clock } from "../util/clock.ts";
import { duration } from "../util/text.ts";
import type { Verdict } from "./backoff.ts";

/** The next state, and how it is told. `fields.state` is there where showing the state says the same. */
export interface AfterFailure {
  state: ServerState;
  level: "info" | "warn";
  message: string;
  fields: LogFields;
}

export function afterFailure(
  error: PlugboardError,
  verdict: Verdict,
  definition: ServerDefinition,
  clock: Clock,
  authHint = error.hint ?? "sign in",
): AfterFailure {
  if (error.code === "NEEDS_AUTH") {
    const remedy = `${error.message}; ${authHint}`;
    const fields = { state: "needs-auth" };
    return { state: { kind: "needs-auth", remedy }, level: "warn", message: error.message, fields };
  }
  if (verdict.kind === "give-up" || !definition.restartOnCrash) {
    const why = verdict.kind === "give-up" ? verdict.reason : "restartOnCrash is off";
    const message = `server failed: ${error.message} (${why})`;
    return {
      state: { kind: "failed", error },
      level: "warn",
      message,
      fields: { state: "failed" },
    };
  }
  const { delayMs, attempt } = verdict;
  const retryAt = clock.now() + delayMs;
  const limit = isRemote(definition) ? {} : { of: definition.maxRestarts };
  return {
    state: { kind: "backoff", attempt, ...limit, retryAt, error },
    level: "info",
    message: `restart in ${duration(delayMs)}`,
    fields: { attempt, reason: error.message },
  };
}

export function isRemote({ endpoint }: ServerDefinition): boolean {
  return endpoint.kind !== "stdio";
}
