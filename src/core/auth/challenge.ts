// The challenge with which a server refuses a request (`WWW-Authenticate`): how to get one, and what it says.

import type { Challenge } from "../types/authorization.ts";
import type { GuardedFetch } from "../net/fetch.ts";

export interface ParsedChallenge {
  resourceMetadata?: string;
  scope?: string;
  /** The token is valid, but not for this request. */
  insufficientScope: boolean;
}

const HEADERS_TIMEOUT_MS = 15_000;

const LIST_TOOLS = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

/** What the server answers to a request without a token. It is a challenge if its status is 401. */
export async function requestChallenge(
  fetch: GuardedFetch,
  url: string,
  privateHeaders: Record<string, string>,
  signal: AbortSignal,
): Promise<Challenge> {
  const common = { privateHeaders, signal, headersTimeout: HEADERS_TIMEOUT_MS };
  const accept = "application/json, text/event-stream";
  let response = await fetch(url, {
    ...common,
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: LIST_TOOLS,
  });
  response.cancel();
  // A server with the older SSE transport answers only GET at this URL.
  if (response.status === 404 || response.status === 405) {
    const headers = { accept: "text/event-stream" };
    response = await fetch(url, { ...common, method: "GET", headers });
    response.cancel();
  }
  const { status, headers } = response;
  return { status, header: headers["www-authenticate"] };
}

export function parseChallenge({ status, header = "" }: Challenge): ParsedChallenge {
  const text = header.slice(0, 8192);
  return {
    resourceMetadata: parameter(text, "resource_metadata"),
    scope: parameter(text, "scope"),
    insufficientScope: status === 403 && parameter(text, "error") === "insufficient_scope",
  };
}

/** A quoted string or a token. The whole name must match: `x_scope` is not `scope`. */
function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(header);
  return (found?.[1] ?? found?.[2]) || undefined;
}
