// Answers the client's first request with the reason why the agent cannot start. Many clients do not show what a process
// writes to stderr before it exits.

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import { type Clock, within } from "../../util/clock.ts";

/** A client sends its first request at once. Anything else that started us must not wait for long. */
const WAIT_MS = 2000;
const INTERNAL_ERROR = -32603;

export interface RefuseOptions {
  input: Readable;
  output: WritableStream<Uint8Array>;
  clock: Clock;
  signal: AbortSignal;
}

/** Resolves when the reason was sent, or no request came. Does not reject. */
export async function refuseAcp(
  reason: unknown,
  { input, output, clock, signal }: RefuseOptions,
): Promise<void> {
  if (!(reason instanceof PlugboardError)) return;
  const lines = createInterface({ input });
  // Closing ends the loop that reads lines, and with it the wait.
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const request = await within(clock, WAIT_MS, firstRequest(lines));
  signal.removeEventListener("abort", stop);
  stop();
  if (request === undefined) return;
  const { message, hint, code } = reason;
  const answer = {
    jsonrpc: "2.0",
    id: request["id"],
    error: {
      code: INTERNAL_ERROR,
      message: hint === undefined ? message : `${message}\n${hint}`,
      data: { code },
    },
  };
  const line = new TextEncoder().encode(`${JSON.stringify(answer)}\n`);
  // The write fails if the client is gone, and then nobody needs the answer.
  await Promise.allSettled([output.getWriter().write(line)]);
}

async function firstRequest(lines: AsyncIterable<string>): Promise<JsonObject | undefined> {
  for await (const line of lines) {
    const message = tryParseJson(line);
    if (isJsonObject(message) && "method" in message && "id" in message) return message;
  }
  return undefined;
}
