// The error for a sign-in that failed: why, and what to do.

import { OAuthError } from "@modelcontextprotocol/client";
import { PlugboardError } from "../model/errors.ts";
import { signInHint } from "../model/authorization.ts";
import { oneLine } from "../util/text.ts";

/** A cause that is a PlugboardError, such as one of the network, is returned unchanged. */
export function signInError(server: string, what: string, cause?: unknown): PlugboardError {
  if (cause instanceof PlugboardError) return cause;
  const why = cause === undefined ? "" : `: ${reason(cause)}`;
  return new PlugboardError("NEEDS_AUTH", `cannot sign in to '${server}': ${what}${why}`, {
    server,
    status: 401,
    permanent: true,
    cause,
    hint: signInHint(server),
  });
}

/** The server's own words, without the rest of its response. */
function reason(error: unknown): string {
  if (error instanceof OAuthError) return oneLine(`${error.message} (${error.code})`, 300);
  return oneLine(error instanceof Error ? error.message : String(error), 300);
}
