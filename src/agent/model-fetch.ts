// The guarded network as the `fetch` that the AI SDK takes: it uses the proxy, if there is one, and sends the key to
// no other origin than the model's.

import type { Environment } from "../util/environment.ts";
import { PlugboardError } from "../model/errors.ts";
import { createFetch, type GuardedResponse } from "../net/fetch.ts";
import type { Clock, Timer } from "../util/clock.ts";
import { duration } from "../util/text.ts";

export interface ModelFetch {
  fetch: typeof globalThis.fetch;
  /** Ends every connection; idempotent. */
  close: () => Promise<void>;
}

/** A model may think for minutes before or in the middle of its answer. After this silence we give up. */
const LONGEST_SILENCE_MS = 300_000;

/** Models often run on this machine or in the local network, and the user configured the address. */
const POLICY = { allowInsecure: true, allowPrivate: true, allow: [] };

/** Supports what the AI SDK sends: POST requests with a text body. */
export function createModelFetch(env: Environment, clock: Clock): ModelFetch {
  const guarded = createFetch({ policy: POLICY, env, clock });
  return {
    async fetch(input, init = {}) {
      const url = input instanceof Request ? input.url : String(input);
      const { body, signal, headers } = init;
      const response = await guarded(url, {
        method: "POST",
        // Each provider has its own header for the key, so we send none of them to another origin.
        privateHeaders: Object.fromEntries(new Headers(headers)),
        body: typeof body === "string" ? body : undefined,
        signal: signal ?? undefined,
        headersTimeout: LONGEST_SILENCE_MS,
        maxBodyBytes: Infinity,
      });
      return toResponse(response, clock);
    },
    close: () => guarded.close(),
  };
}

function toResponse(response: GuardedResponse, clock: Clock): Response {
  const { status, headers } = response;
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  const body = hasBody ? ReadableStream.from(unlessSilent(response, clock)) : null;
  return new Response(body, { status, headers });
}

async function* unlessSilent(
  response: GuardedResponse,
  clock: Clock,
): AsyncGenerator<Buffer, void> {
  let isSilent = false;
  const watch = (): Timer =>
    clock.later(LONGEST_SILENCE_MS, () => {
      isSilent = true;
      response.cancel();
    });
  let timer = watch();
  try {
    for await (const chunk of response.body) {
      timer.cancel();
      yield chunk;
      timer = watch();
    }
  } catch (error) {
    if (!isSilent) throw error;
    const message = `it said nothing for ${duration(LONGEST_SILENCE_MS)}`;
    throw new PlugboardError("TIMEOUT", message, { cause: error });
  } finally {
    timer.cancel();
  }
}
