// Decides what an HTTP answer other than a success means for the conversation.

import { PlugboardError, withoutEffect } from "../../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn, tryParseJson } from "../../types/json.ts";
import { retryAfterMs } from "../../../util/retry-after.ts";
import { duration, oneLine } from "../../../util/text.ts";
import { type Quote, serverError, wireMessage } from "./errors.ts";
import { mediaType } from "./http-headers.ts";

export type Refusal =
  /** The server has forgotten the session; the request did not run. */
  | { kind: "session-lost"; error: PlugboardError }
  /** The server asks us to try again after this wait, whatever its length; the request did not run. */
  | { kind: "later"; afterMs: number; error: PlugboardError }
  | { kind: "error"; error: PlugboardError };

/** We do not retry sooner than this, whatever the server says. */
const SHORTEST_WAIT_MS = 250;
const DEFAULT_WAIT_MS = 1000;

/** A header that the configuration has under a key of its own. */
export interface ConfiguredAuth {
  header: string;
  key: "auth" | "worker.token";
}

export interface RefusedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  method: string;
  /** The request carried a session id. */
  inSession: boolean;
  /** The configured headers of the request. */
  sent: Readonly<Record<string, string>>;
  /** The one of them that is not among `headers` of the configuration. */
  auth?: ConfiguredAuth | undefined;
  now: number;
  quote: Quote;
}

export function readRefusal(answer: RefusedAnswer): Refusal {
  const { status, body, inSession, method } = answer;
  const parsed = tryParseJson(body);
  const wire = isJsonObject(parsed) && isJsonObject(parsed.error) ? parsed.error : undefined;
  if (status === 401 || status === 403) return { kind: "error", error: needsAuth(answer) };
  const error =
    wire && status < 500
      ? serverError(answer.method, wire, answer.quote, { status, hint: pathHint(answer) })
      : httpError(answer);
  const said = (wire && wireMessage(wire, answer.quote)) || body;
  // An error with the id of a call may be the tool's own, and its words may be about sessions or about something that
  // is not found.
  const isOfCall = method === "tools/call" && isJsonObject(parsed) && typeof parsed.id === "number";
  const isLost =
    status === 404
      ? !isOfCall || /session/i.test(said)
      : status === 400 && (isOfCall ? /session[ -]?id\b/i : /session/i).test(said);
  if (inSession && isLost) {
    return { kind: "session-lost", error: withoutEffect(error) };
  }
  if (status !== 429) return { kind: "error", error };
  const told = retryAfterMs(answer.headers["retry-after"], answer.now);
  const afterMs = Math.max(told ?? DEFAULT_WAIT_MS, SHORTEST_WAIT_MS);
  return { kind: "later", afterMs, error: notRun(answer, error, told) };
}

/** `told` is the wait that the server asks for, if it says one. */
function notRun(
  { status, method }: RefusedAnswer,
  error: PlugboardError,
  told: number | undefined,
): PlugboardError {
  const where = error.code === "SERVER_ERROR" ? ` (HTTP ${status})` : "";
  const effect = method === "tools/call" ? "; the call has not run" : "";
  return new PlugboardError(error.code, `${error.message}${where}${effect}`, {
    cause: error.cause,
    quote: error.quote,
    status,
    hasNotRun: true,
    hint:
      told === undefined
        ? "the server takes no more requests for now: try again later"
        : `the server asks for a wait of ${duration(Math.ceil(told / 1000) * 1000)}: try again then`,
  });
}

/** Whether another token may overcome the refusal. */
export function isChallenge(status: number, headers: Readonly<Record<string, string>>): boolean {
  if (status === 401) return true;
  return status === 403 && /\binsufficient_scope\b/.test(headers["www-authenticate"] ?? "");
}

/** A JSON-RPC error in the body says more than the status. */
function errorIn(body: string): JsonObject | undefined {
  const parsed = tryParseJson(body);
  return isJsonObject(parsed) && isJsonObject(parsed.error) ? parsed.error : undefined;
}

function httpError(answer: RefusedAnswer): PlugboardError {
  const { status, method, headers } = answer;
  const type = mediaType(headers);
  const said = saidIn(answer, type);
  const shown = said === "" ? "" : `: ${said}`;
  const kind = type === undefined || said !== "" ? "" : oneLine(type, 60);
  const what = kind === "" ? "" : ` and ${kind}`;
  return new PlugboardError(
    "HTTP_STATUS",
    `the server answered ${method} with HTTP ${status}${what}${shown}`,
    { status, quote: said || kind, hint: pathHint(answer), hasNotRun: isRefused(status) },
  );
}

/** Anybody may answer 5xx or 408 while the server works on the request. */
function isRefused(status: number): boolean {
  return status < 500 && status !== 408;
}

/** The body, where a person can read it: a page of HTML says little in one line. */
function saidIn({ body, quote }: RefusedAnswer, type = ""): string {
  if (!type.includes("json") && type !== "text/plain") return "";
  const message = errorIn(body)?.message;
  return quote(typeof message === "string" ? message : body);
}

const FIRST_REQUESTS = new Set(["GET", "initialize", "server/discover"]);

/** Where nothing has worked yet, 404 and 405 mean that MCP is not at this path. */
function pathHint({ status, method }: RefusedAnswer): string | undefined {
  if ((status !== 404 && status !== 405) || !FIRST_REQUESTS.has(method)) return undefined;
  return 'check the path in "url": most servers answer at /mcp, older ones at /sse';
}

function needsAuth(answer: RefusedAnswer): PlugboardError {
  const { status, headers, body, quote } = answer;
  const places = credentialPlaces(answer);
  const what =
    places.length > 0
      ? "the server refuses the configured credentials"
      : "the server requires authentication";
  const words = ownWords(body, headers);
  const said = words === undefined ? "" : quote(words);
  const shown = said === "" ? "" : `: ${said}`;
  return new PlugboardError("NEEDS_AUTH", `${what} (HTTP ${status})${shown}`, {
    status,
    quote: said,
    permanent: true,
    hint:
      places.length > 0
        ? `check the value in ${places.join(" and ")}: it may be wrong, expired, or not meant for this server`
        : 'give it a token in headers, such as { Authorization: "Bearer ${TOKEN}" }',
  });
}

/** Where the credentials that were sent are configured. */
function credentialPlaces({ sent, auth }: RefusedAnswer): string[] {
  const names = Object.keys(sent).filter(
    (name) => name === auth?.header || /auth|token|key|cookie/i.test(name),
  );
  return names.map((name) =>
    name === auth?.header ? `"${auth.key}"` : `"headers" (${oneLine(name, 60)})`,
  );
}

/** What the server says about its refusal, in one of the forms that servers use. A page of HTML says nothing. */
function ownWords(body: string, headers: Readonly<Record<string, string>>): string | undefined {
  const parsed = tryParseJson(body);
  const described = /\berror_description="([^"]{1,500})"/i.exec(headers["www-authenticate"] ?? "");
  const words = [...(isJsonObject(parsed) ? messagesIn(parsed) : []), described?.[1]];
  const isText = parsed === undefined && !/^\s*</.test(body);
  if (isText) words.unshift(body);
  return words.find((each) => each !== undefined && each.trim() !== "");
}

function messagesIn(answer: JsonObject): string[] {
  const { error } = answer;
  const inner = objectIn(error);
  const candidates = [
    inner.message,
    answer.error_description,
    answer.message,
    answer.detail,
    answer.title,
    error,
  ];
  return candidates.filter((each) => typeof each === "string");
}
