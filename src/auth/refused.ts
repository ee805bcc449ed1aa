// A sign-in that cannot be had, as an error that says so and what to do.

import { OAuthError } from "@modelcontextprotocol/client";
import { PlugboardError } from "../model/errors.ts";
import { signInHint } from "../model/authorization.ts";
import { oneLine } from "../util/text.ts";

/** Leaves what the network says alone: that is no refusal. */
export function refusedSignIn(server: string, what: string, cause?: unknown): PlugboardError {
  if (cause instanceof PlugboardError) return cause;
  const why = cause === undefined ? "" : `: ${reason(cause)}`;
  return new PlugboardError("NEEDS_AUTH", `cannot sign in to '${server}': ${what}${why}`, {
    server,
    status: 401,
    permanent: true,
    ...(cause !== undefined && { cause }),
    hint: signInHint(server),
  });
}

/** In the server's words, without what else a body held. */
function reason(error: unknown): string {
  if (error instanceof OAuthError) return oneLine(`${error.message} (${error.code})`, 300);
  return oneLine(error instanceof Error ? error.message : String(error), 300);
}
