// What an HTTP answer that is no success means for the conversation.

import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";

export type Refusal =
  /** The server has forgotten the session: whatever was asked did not run. */
  | { kind: "session-lost"; error: PlugboardError }
  /** Later, after so long; what was asked did not run. */
  | { kind: "later"; afterMs: number; error: PlugboardError }
  | { kind: "error"; error: PlugboardError };

/** A server's idea of "later" is not waited for beyond this. */
const LONGEST_WAIT_MS = 30_000;
/** Nor is one who says "now" hammered. */
const SHORTEST_WAIT_MS = 250;
const DEFAULT_WAIT_MS = 1000;

export interface RefusedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  method: string;
  /** The request carried a session id. */
  inSession: boolean;
  now: number;
}

export function readRefusal(answer: RefusedAnswer): Refusal {
  const { status, body, inSession } = answer;
  const wire = wireError(body);
  const said = wire?.message ?? "";
  if (status === 401 || status === 403) return { kind: "error", error: needsAuth(answer) };
  const error = wire && status < 500 ? serverError(answer, wire) : httpError(answer);
  if (inSession && (status === 404 || (status === 400 && /session/i.test(said || body)))) {
    return { kind: "session-lost", error };
  }
  if (status !== 429) return { kind: "error", error };
  const afterMs = retryAfter(answer.headers["retry-after"], answer.now);
  return {
    kind: "later",
    afterMs: Math.min(Math.max(afterMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS),
    error,
  };
}

/** A refusal that another token may overcome. */
export function isChallenge(status: number, headers: Readonly<Record<string, string>>): boolean {
  if (status === 401) return true;
  return status === 403 && /\binsufficient_scope\b/.test(headers["www-authenticate"] ?? "");
}

interface WireError {
  code: number | undefined;
  message: string;
  error: unknown;
}

/** A JSON-RPC error in the body says more than the status. */
function wireError(body: string): WireError | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isJsonObject(parsed) || !isJsonObject(parsed.error)) return undefined;
    const { code, message } = parsed.error;
    return {
      code: typeof code === "number" ? code : undefined,
      message: typeof message === "string" ? oneLine(message, 2000) : "no message",
      error: parsed.error,
    };
  } catch {
    return undefined;
  }
}

function serverError({ method, status }: RefusedAnswer, wire: WireError): PlugboardError {
  const code = wire.code === undefined ? "" : ` (${wire.code})`;
  return new PlugboardError("SERVER_ERROR", `${wire.message}${code}`, {
    cause: { method, error: wire.error },
    status,
  });
}

function httpError({ status, method, headers }: RefusedAnswer): PlugboardError {
  const type = headers["content-type"]?.split(";")[0];
  const what = type === undefined ? "" : ` and ${oneLine(type, 60)}`;
  return new PlugboardError(
    "HTTP_STATUS",
    `the server answered ${method} with HTTP ${status}${what}`,
    {
      status,
    },
  );
}

function needsAuth({ status }: RefusedAnswer): PlugboardError {
  return new PlugboardError(
    "NEEDS_AUTH",
    `the server wants to know who is calling (HTTP ${status})`,
    {
      status,
      permanent: true,
      hint: 'give it a token in headers, such as { Authorization: "Bearer ${TOKEN}" }',
    },
  );
}

/** Seconds, or a date. */
function retryAfter(value: string | undefined, now: number): number {
  if (value === undefined) return DEFAULT_WAIT_MS;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? DEFAULT_WAIT_MS : Math.max(0, date - now);
}
