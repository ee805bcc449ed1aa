// Asks a server without a token, to hear what it wants.

import type { Challenge } from "../model/authorization.ts";
import type { GuardedFetch } from "../net/fetch.ts";

const DEADLINE_MS = 15_000;

const QUESTION = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {},
});

/** Undefined where the server does not ask who is calling. */
export async function probe(
  fetch: GuardedFetch,
  url: string,
  privateHeaders: Record<string, string>,
  signal: AbortSignal,
): Promise<Challenge | undefined> {
  const accept = "application/json, text/event-stream";
  const post = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    privateHeaders,
    body: QUESTION,
    signal,
    headersTimeout: DEADLINE_MS,
  });
  post.cancel();
  if (post.status === 401) return { status: 401, header: post.headers["www-authenticate"] };
  if (post.status !== 404 && post.status !== 405) return undefined;
  // The older transport listens for GET alone.
  const headers = { accept: "text/event-stream" };
  const get = await fetch(url, {
    method: "GET",
    headers,
    privateHeaders,
    signal,
    headersTimeout: DEADLINE_MS,
  });
  get.cancel();
  return get.status === 401 ? { status: 401, header: get.headers["www-authenticate"] } : undefined;
}
