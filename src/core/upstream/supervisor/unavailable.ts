// Says why a server cannot take a call, and what happens next, in words that a model or a person can act on.

import { type ErrorCode, PlugboardError, quoteIn } from "../../types/errors.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import type { ServerState } from "../../types/server-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { duration, withoutName } from "../../../util/text.ts";

export function unavailable(
  definition: ServerDefinition,
  state: ServerState,
  clock: Clock,
): PlugboardError {
  const server = definition.name;
  const cause = "error" in state ? state.error : undefined;
  // How to sign in may repeat what the server said when it refused.
  const own = state.kind === "needs-auth" ? undefined : "";
  const isOver = state.kind === "failed" || state.kind === "stopped";
  const hints = [cause?.hint, isOver ? state.remedy : undefined];
  return new PlugboardError(
    codeFor(state),
    `server '${server}' ${describe(state, definition, clock)}`,
    {
      server,
      namesServer: true,
      cause,
      hint: hints.filter((hint) => hint !== undefined).join("; ") || undefined,
      isHintQuoted: cause?.isHintQuoted ?? false,
      quote: cause === undefined ? own : quoteIn(cause),
      hasNotRun: true,
    },
  );
}

/** Why it cannot be used, where that is known for good. A server that is restarting may be there for the next call. */
function codeFor(state: ServerState): ErrorCode {
  switch (state.kind) {
    case "untrusted":
      return "UNTRUSTED";
    case "needs-auth":
      return "NEEDS_AUTH";
    case "failed":
      // The server refused to start, and has not been asked what the call is about.
      return state.error.code === "SERVER_ERROR" ? "SERVER_UNAVAILABLE" : state.error.code;
    default:
      return "SERVER_UNAVAILABLE";
  }
}

function describe(state: ServerState, definition: ServerDefinition, clock: Clock): string {
  switch (state.kind) {
    case "disabled":
      return "is disabled";
    case "untrusted":
    case "needs-auth":
      return `is not started: ${state.remedy}`;
    case "starting":
      if (state.installer !== undefined) {
        return `is not ready: ${state.installer} is still installing it, try again shortly`;
      }
      return `did not become ready within ${duration(definition.timeout)}; it is still starting, try again shortly`;
    case "backoff": {
      const wait = duration(Math.max(0, state.retryAt - clock.now()));
      const of = state.of === undefined ? "" : ` of ${state.of}`;
      return `is restarting, attempt ${state.attempt}${of}, next try in ${wait} (${reason(state, definition)})`;
    }
    case "failed":
      return `has failed: ${reason(state, definition)}${state.remedy ? "; it is not restarted automatically" : ""}`;
    case "stopping":
    case "stopped":
      return "is stopped";
    case "idle":
    case "ready":
      return "went away before the call could be sent; try again";
  }
}

function reason({ error }: { error: PlugboardError }, { name }: ServerDefinition): string {
  return withoutName(error.message, name);
}
