// A command's requests to a gateway. Which there are, what they take and what they give, the gateway's side says. Imports
// little, like the link.

import { PlugboardError, withPossibleEffect } from "../../../core/types/errors.ts";
import type { Methods } from "../gateway/served-link.ts";
import type { Link, RequestOptions } from "../link.ts";

export type Method = keyof Methods;
export type Args<Name extends Method> = Methods[Name]["examples"];
export type Result<Name extends Method> = Awaited<ReturnType<Methods[Name]["run"]>>;

/** Rejects as the gateway does, and with SERVER_UNAVAILABLE if the link ends. */
export async function ask<Name extends Method>(
  link: Link,
  method: Name,
  args: Args<Name>,
  options?: RequestOptions,
): Promise<Result<Name>> {
  try {
    return (await link.request(method, args, options)) as Result<Name>;
  } catch (error) {
    const { code, hasNotRun } = error as PlugboardError;
    if (method !== "session/call" || link.isOpen || hasNotRun || code !== "SERVER_UNAVAILABLE") {
      throw error;
    }
    const message =
      link.end?.kind === "silent"
        ? "the gateway does not answer any more; the call may have run"
        : "the gateway stopped during the call; it may have run";
    throw withPossibleEffect(new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" }));
  }
}
