// The scripted model asked by hand, byte by byte where that matters.

import type { ApiName } from "./start.mjs";

const PATHS: Record<ApiName, string> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  google: "/v1/models/m:streamGenerateContent",
};

const HELLO = [{ role: "user", content: "hello" }];

/** The least that each API takes. */
const BODIES: Record<ApiName, Record<string, unknown>> = {
  chat: { model: "m", messages: HELLO },
  responses: { model: "m", input: "hello" },
  messages: { model: "m", max_tokens: 100, messages: HELLO },
  google: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
};

/** Those that say in the body whether to stream. */
export const APIS: ApiName[] = ["chat", "responses", "messages"];

export function post(
  url: string,
  api: ApiName,
  body: Record<string, unknown> = {},
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}${PATHS[api]}`, {
    method: "POST",
    body: JSON.stringify({ ...BODIES[api], ...body }),
    ...init,
  });
}

export async function chunksOf(response: Response): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk as Uint8Array));
  return chunks;
}

/** The data of every event, parsed. */
export function eventsOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n\n")
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data));
}
