// Turns the error of a call that got no answer into an outcome, worded so that a model can act on it.

import { type ErrorCode, type PlugboardError, toPlugboardError } from "../types/errors.ts";
import { isJsonObject } from "../types/json.ts";
import type { CallFailure, CallOutcome } from "../types/tool.ts";
import { isPlainName, plainText, truncate } from "../../util/text.ts";

const LONGEST_WORDS = 2000;

export interface FailedCall {
  server: string;
  tool: string;
  /** It was handed to the server's connection. */
  isSent?: boolean;
}

/** What can happen to a call that the server has got. The other codes are its own answer, or come before. */
const AFTER_SENDING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TIMEOUT",
  "CONNECTION_CLOSED",
  "NETWORK",
  "HTTP_STATUS",
  "MESSAGE_TOO_LARGE",
  "CANCELLED",
  // An answer that makes no sense is an answer: the tool has most likely run.
  "PROTOCOL",
  "INVALID_RESULT",
]);

export function toFailure(error: unknown, call?: FailedCall): CallOutcome {
  const reason = toPlugboardError(error, "PROTOCOL");
  const mayHaveRun = call?.isSent === true && !reason.hasNotRun && AFTER_SENDING.has(reason.code);
  const message = `${sentence(reason, call, mayHaveRun)}${hintText(reason)}`;
  // If the hint has the server's words too, the whole message counts as the server's.
  const quote = reason.isHintQuoted ? message : reason.quote;
  return {
    content: [{ type: "text", text: withLines(message, reason) }],
    isError: true,
    failure: {
      code: reason.code,
      message,
      ...(reason.hint !== undefined && { hint: reason.hint }),
      ...(quote !== undefined && { quote }),
      ...(reason.code === "SERVER_ERROR" && answeredWith(reason)),
      ...(mayHaveRun && { mayHaveRun }),
    },
  };
}

/** The same for a call to a gateway that gave no outcome: if it went away, nobody knows whether the call has run. */
export function toGatewayFailure(error: unknown, isSent = true): CallOutcome {
  const reason = toPlugboardError(error, "PROTOCOL");
  const { failure, ...outcome } = toFailure(reason);
  const mayHaveRun = isSent && !reason.hasNotRun && reason.code === "SERVER_UNAVAILABLE";
  return { ...outcome, failure: failure && { ...failure, ...(mayHaveRun && { mayHaveRun }) } };
}

function answeredWith({ cause }: PlugboardError): Pick<CallFailure, "serverError"> {
  const error = isJsonObject(cause) ? cause.error : undefined;
  if (!isJsonObject(error) || typeof error.code !== "number") return {};
  const { code, data } = error;
  return { serverError: { code, ...(data !== undefined && { data }) } };
}

/** The message, with the words of the server on as many lines as it wrote. */
function withLines(message: string, { quote = "", cause }: PlugboardError): string {
  const error = isJsonObject(cause) ? cause.error : undefined;
  const said = isJsonObject(error) ? error.message : undefined;
  if (typeof said !== "string" || !said.includes("\n") || quote === "") return message;
  const plain = plainText(said.slice(0, 2 * LONGEST_WORDS)).trim();
  const at = message.indexOf(quote);
  const words = truncate(plain.replace(/^MCP error -?\d+: /, ""), LONGEST_WORDS);
  return `${message.slice(0, at)}${words}${message.slice(at + quote.length)}`;
}

/** A hint that ends with a command has nothing after it, so that a person can copy it. */
function hintText({ code, hint }: Pick<CallFailure, "code" | "hint">): string {
  if (hint === undefined) return "";
  return code === "NEEDS_AUTH" || code === "CHANGED_TOOL" ? `; ${hint}` : ` (${hint})`;
}

/** The text of a failed call without the hint at its end, for whoever shows the hint by itself. */
export function withoutHint(text: string, failure: CallFailure): string {
  const end = hintText(failure);
  return end !== "" && text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function sentence(
  error: PlugboardError,
  call: FailedCall | undefined,
  mayHaveRun: boolean,
): string {
  if (call === undefined) return error.message;
  const server = `server '${call.server}'`;
  // The model knows which tool it called, so a name that could hold a sentence need not be repeated.
  const tool = isPlainName(call.tool) ? `'${call.tool}'` : "the tool";
  const effect = mayHaveRun ? `; ${tool} may have taken effect` : "";
  // Why a server takes no calls is told with its name.
  if (error.namesServer) return `${error.message}${effect}`;
  switch (error.code) {
    case "TIMEOUT":
      return mayHaveRun
        ? `${server}: ${error.message}; ${tool} was cancelled but may have taken effect`
        : `${server}: ${error.message}`;
    case "CONNECTION_CLOSED":
      return mayHaveRun
        ? `${server} went away during ${tool}: ${error.message}; the call may have taken effect`
        : `${server} went away before ${tool} was sent: ${error.message}`;
    case "SERVER_ERROR":
      return `${server} refused ${tool}: ${error.message}`;
    case "CANCELLED":
      return `${error.message}${effect}`;
    // The guard's messages, which already name the tool.
    case "REFUSED_BY_POLICY":
    case "NOT_APPROVED":
    case "CHANGED_TOOL":
    case "RATE_LIMITED":
    case "UNTRUSTED":
      return error.message;
    default:
      return `${server}: ${error.message}${effect}`;
  }
}
