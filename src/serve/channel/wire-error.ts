// A PlugboardError as JSON, and back: code, message, hint and what else callers look at survive the way.

import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";

/** Whoever reads it branches on the code, so the text of a code that it does not know is still told. */
export function errorToWire(given: unknown): JsonObject {
  const error = toPlugboardError(given, "SYSTEM_ERROR");
  const { code, message, server, hint, quote, isHintQuoted, permanent, hasNotRun, status } = error;
  const { cause, problems } = error;
  return {
    code,
    message,
    server,
    hint,
    quote,
    status,
    ...(isHintQuoted && { isHintQuoted }),
    ...(permanent && { permanent }),
    ...(hasNotRun && { hasNotRun }),
    ...(problems.length > 0 && { problems }),
    ...(!(given instanceof PlugboardError) && { isForeign: true }),
    // The JSON-RPC error that a server answered with: clients of an endpoint get it as it is.
    ...(isJsonObject(cause) && isJsonObject(cause.error) && { cause: { error: cause.error } }),
  };
}

/** An error that was none of Plugboard's is its `cause`. */
export function errorFromWire(value: unknown): PlugboardError {
  const { code, message: given, isForeign, ...details } = isJsonObject(value) ? value : {};
  const message = typeof given === "string" ? given : "an error without a message";
  return new PlugboardError(
    (typeof code === "string" ? code : "PROTOCOL") as PlugboardError["code"],
    message,
    isForeign === true ? { ...details, cause: new Error(message) } : details,
  );
}
