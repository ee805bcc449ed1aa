// The errors that every transport reports: what a server answered, and messages that are too large.

import { type ErrorDetails, PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { byteSize } from "../../../util/text.ts";

const METHOD_NOT_FOUND = -32601;

/** A server's JSON-RPC error in answer to `method`. */
export function serverError(
  method: string,
  error: unknown,
  quote: Quote,
  details: Pick<ErrorDetails, "status" | "hint"> = {},
): PlugboardError {
  const code = isJsonObject(error) && typeof error.code === "number" ? ` (${error.code})` : "";
  const said = wireMessage(error, quote);
  return new PlugboardError("SERVER_ERROR", `${said}${code}`, {
    cause: { method, error },
    quote: said,
    ...details,
  });
}

const LONGEST_MESSAGE = 2000;

export function wireMessage(error: unknown, quote: Quote): string {
  const message = isJsonObject(error) ? error.message : error;
  if (typeof message !== "string") return "no message";
  // The official SDKs put the code in front of the message, and `serverError` adds it at the end.
  return quote(message.replace(/^MCP error -?\d+: /, ""), LONGEST_MESSAGE);
}

/** The JSON-RPC error that `serverError` was made from; undefined for any other error. */
export function wireErrorOf(error: unknown): JsonObject | undefined {
  if (!(error instanceof PlugboardError) || !isJsonObject(error.cause)) return undefined;
  const wire = error.cause.error;
  return isJsonObject(wire) ? wire : undefined;
}

export function isMethodNotFound(error: unknown): boolean {
  return wireErrorOf(error)?.code === METHOD_NOT_FOUND;
}

/** Shows what a server sent, in an error: bounded, on one line, without secrets. */
export type Quote = (received: unknown, max?: number) => string;

/** `fault` follows "the server's answer to tools/call" in a sentence. */
export function malformed(method: string, fault: string, shown: string): PlugboardError {
  const message = `the server's answer to ${method} ${fault}: ${shown}`;
  return new PlugboardError("PROTOCOL", message, { quote: shown });
}

export function messageTooLarge(maxBytes: number): PlugboardError {
  return new PlugboardError(
    "MESSAGE_TOO_LARGE",
    `the server sent a message of more than ${byteSize(maxBytes)} (maxMessageBytes)`,
    { quote: "", hint: 'raise "maxMessageBytes" for this server, or ask it for less at a time' },
  );
}
