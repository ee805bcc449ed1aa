// The error for a sign-in that failed: why, and what to do.

import { OAuthError } from "@modelcontextprotocol/client";
import { PlugboardError } from "../types/errors.ts";
import { signInHint } from "../types/authorization.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";

/**
 * A cause that is a PlugboardError, such as one of the network, is returned unchanged. `hint` is for a failure that
 * signing in again does not help against.
 */
export function signInError(
  server: string,
  what: string,
  cause?: unknown,
  hint: string = signInHint(server),
): PlugboardError {
  if (cause instanceof PlugboardError) return cause;
  const why = cause === undefined ? "" : `: ${reason(cause)}`;
  return new PlugboardError("NEEDS_AUTH", `cannot sign in to '${server}': ${what}${why}`, {
    server,
    status: 401,
    permanent: true,
    cause,
    hint,
  });
}

/** The server's own words, without the rest of its response. */
function reason(error: unknown): string {
  if (error instanceof OAuthError) return oneLine(`${error.message} (${error.code})`, 300);
  const message = errorMessage(error);
  return oneLine(message.replace(/:\s*$/, ""), 300);
}
