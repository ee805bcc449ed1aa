// MCP on stdio: one client, in whichever era it speaks. A message is a line; only messages go to the output.

import type { Readable } from "node:stream";
import { type Caller, LOCAL_CALLER } from "../../core/types/caller.ts";
import { type JsonObject, tryParseJson } from "../../core/types/json.ts";
import { readEnds } from "../../core/types/rpc-head.ts";
import { jsonOfAnyDepth } from "../../util/canonical-json.ts";
import { deferred } from "../../util/deferred.ts";
import { LineReader } from "../../util/line-reader.ts";
import { excessIn } from "../../util/measure-json.ts";
import { byteSize } from "../../util/text.ts";
import type { Client, ClientProfile } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { clientInfoIn } from "./methods/lifecycle.ts";
import { readMessage, refuse, response, RPC, type RpcRequest } from "./message.ts";
import { claimsModern } from "./protocol.ts";

const MAX_BYTES = 64 * 1024 * 1024;
/** How much may wait for a client that does not read. */
const MOST_UNREAD = 16 * 1024 * 1024;
const LOCAL: Caller = { id: LOCAL_CALLER, label: "stdio" };

export interface ServeStdioOptions {
  endpoint: Endpoint;
  input: Readable;
  output: { write: (text: string, done: () => void) => unknown };
  /** Default: whoever started this process. */
  caller?: Caller;
  /** Called once, when the client has said what it is called. */
  onClient?: ((info: NonNullable<ClientProfile["info"]>) => void) | undefined;
  /** Aborting it ends the serving. */
  signal: AbortSignal;
}

/** Resolves when the client has closed its end, or the signal aborts. */
export async function serveOnStdio({
  endpoint,
  input,
  output,
  caller = LOCAL,
  onClient,
  signal,
}: ServeStdioOptions): Promise<void> {
  const over = deferred();
  let unread = 0;
  let isKnown = false;
  const write = (message: JsonObject): void => {
    const line = `${jsonOfAnyDepth(message)}\n`;
    unread += line.length;
    // A client that does not read is not read from either.
    if (unread > MOST_UNREAD) input.pause();
    output.write(line, () => {
      unread -= line.length;
      if (unread <= MOST_UNREAD && input.isPaused()) input.resume();
    });
  };
  /** Nothing comes before the answer to `initialize`; what has changed until then the client has not seen yet. */
  let hasBegun = false;
  const clients = new Map<"legacy" | "modern", Client>();
  const clientOf = (era: "legacy" | "modern"): Client => {
    const known = clients.get(era);
    if (known !== undefined) return known;
    const client = endpoint.connect({
      era,
      caller,
      profile: { protocolVersion: "2025-11-25", capabilities: {} },
      send: (message) => {
        if (hasBegun) write(message);
      },
      canBeAsked: era === "legacy",
    });
    clients.set(era, client);
    return client;
  };

  const dismiss = (line: string, reason: string): void => {
    const { id, isAnswer } = readEnds(line);
    const answer = refuse(RPC.invalidRequest, reason);
    if (!isAnswer) return write(response(id ?? null, answer));
    if (id !== undefined) clients.get("legacy")?.answered(id, answer);
  };
  /** Not async: a call must not keep its own line in memory, besides its arguments, until it is answered. */
  const take = (line: string): void => {
    const excess = excessIn(line);
    if (excess !== undefined) return dismiss(line, `the message ${excess}`);
    const value = tryParseJson(line);
    if (value === undefined) {
      return write(response(null, refuse(RPC.parseError, "Parse error: the line is not JSON")));
    }
    const message = readMessage(value);
    if (message.kind === "invalid") return write(response(message.id, { error: message.error }));
    if (message.kind === "response") {
      return clients.get("legacy")?.answered(message.response.id, message.response.answer);
    }
    if (message.kind === "notification") {
      for (const client of clients.values()) {
        endpoint.notified(client, message.notification);
        endpoint.reachable(client);
      }
      return undefined;
    }
    void answer(message.request);
    return undefined;
  };
  const answer = async (request: RpcRequest): Promise<void> => {
    const info = isKnown ? undefined : clientInfoIn(request);
    if (info !== undefined) {
      isKnown = true;
      onClient?.(info);
    }
    const client = clientOf(claimsModern(request.params) ? "modern" : "legacy");
    write(response(request.id, await endpoint.answer(client, request, write)));
    // A client may ask whether anybody is there before it begins.
    if (request.method !== "ping") hasBegun = true;
  };

  const reader = new LineReader({
    maxBytes: MAX_BYTES,
    onLine: take,
    onOverflow: () => {
      const message = `the message is larger than ${byteSize(MAX_BYTES)}; the connection ends`;
      write(response(null, refuse(RPC.invalidRequest, message)));
      over.resolve();
    },
  });
  const onData = (chunk: Buffer): void => reader.push(chunk);
  const onEnd = (): void => {
    reader.end();
    over.resolve();
  };
  const stop = (): void => over.resolve();
  input.on("data", onData).once("end", onEnd).once("close", stop).once("error", stop);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await over.promise;
  input.off("data", onData).off("end", onEnd).off("close", stop).off("error", stop);
  signal.removeEventListener("abort", stop);
  await Promise.all([...clients.values()].map((client) => endpoint.disconnect(client)));
}
