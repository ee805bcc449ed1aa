// The guarded network as the `fetch` that the AI SDK takes: it uses the proxy, if there is one, and sends the key to
// no other origin than the model's.

import type { Environment } from "../../util/environment.ts";
import { createFetch, type GuardedResponse } from "../../core/net/fetch.ts";
import type { Clock } from "../../util/clock.ts";

export interface ModelFetch {
  fetch: typeof globalThis.fetch;
  /** Ends every connection; idempotent. */
  close: () => Promise<void>;
}

/** Models often run on this machine or in the local network, and the user configured the address. */
const POLICY = { allowInsecure: true, allowPrivate: true, allow: [] };

/** Supports what the AI SDK sends, POST requests with a text body, and GET. How long an answer may take is for the caller. */
export function createModelFetch(env: Environment, clock: Clock): ModelFetch {
  const guarded = createFetch({ policy: POLICY, env, clock });
  // Node loads its classes when one of them is first read, which the first prompt should not wait for.
  const { Request } = globalThis;
  return {
    async fetch(input, init = {}) {
      const url = input instanceof Request ? input.url : String(input);
      const { body, signal, headers } = init;
      const response = await guarded(url, {
        method: init.method === "GET" ? "GET" : "POST",
        // Each provider has its own header for the key, so we send none of them to another origin.
        privateHeaders: Object.fromEntries(new Headers(headers)),
        body: typeof body === "string" ? body : undefined,
        signal: signal ?? undefined,
        maxBodyBytes: Infinity,
      });
      return toResponse(response);
    },
    close: () => guarded.close(),
  };
}

function toResponse({ status, headers, body: given }: GuardedResponse): Response {
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  const body = hasBody ? ReadableStream.from(given) : null;
  return new Response(body, { status, headers });
}
