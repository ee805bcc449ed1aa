// What the transports to a URL have in common: the host's own requests, dispatching incoming messages, and the
// end of the conversation. How a message is sent is up to each transport.

import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/client";
import { PlugboardError, toPlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { Clock } from "../../util/clock.ts";
import type { Wire } from "./carrier.ts";
import type { Outgoing } from "./http-session.ts";
import { PendingCalls, type RequestOptions } from "./pending-calls.ts";
import type { Hold } from "./send-authorized.ts";

export abstract class RemoteTransport implements Wire {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Wire["onmessage"]>;

  protected readonly calls: PendingCalls;
  protected meta: JsonObject | undefined;
  readonly #streams = new Map<number, { ended: AbortController; isProbe: boolean }>();
  readonly #end = new AbortController();
  readonly #onFatal: (error: PlugboardError) => void;
  #initializeResult: JsonObject | undefined;
  #broken = false;

  /** Calls `onFatal` once, when the server cannot be reached any more; the owner then calls `end`. */
  constructor(clock: Clock, onFatal: (error: PlugboardError) => void) {
    this.#onFatal = onFatal;
    this.calls = new PendingCalls(clock, (id, reason) => this.#abandon(id, reason));
  }

  /** Aborts when the conversation is over. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  async start(): Promise<void> {}

  adoptInitializeResult(result: JsonObject): void {
    this.#initializeResult = result;
  }

  adoptMeta(meta: JsonObject): void {
    this.meta = meta;
  }

  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<unknown> {
    return this.#request("tools/call", { ...options.extra, name, arguments: args }, options, true);
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<unknown> {
    return this.#request(method, params, options, false);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message) || !("id" in message)) return this.notify(message);
    const { id, method } = message;
    if (method === "initialize" && this.#initializeResult !== undefined) {
      const answer = { jsonrpc: "2.0" as const, id, result: this.#initializeResult };
      queueMicrotask(() => this.onmessage?.(answer));
      return;
    }
    const { requestSignal } = options ?? {};
    const signal = requestSignal ? AbortSignal.any([this.ended, requestSignal]) : this.ended;
    const params = (message.params ?? {}) as JsonObject;
    await this.sendForSdk({ method, params, body: JSON.stringify(message), signal }, id);
  }

  hold<Result>(wait: Promise<Result>): Promise<Result> {
    return this.calls.holdAll(wait);
  }

  end(error: PlugboardError): void {
    if (this.ended.aborted) return;
    this.calls.failAll(error);
    this.#end.abort();
    for (const { ended } of this.#streams.values()) ended.abort();
    this.onclose?.();
  }

  async close(): Promise<void> {
    this.end(new PlugboardError("CONNECTION_CLOSED", "the connection was closed"));
  }

  fatal(error: PlugboardError): void {
    if (this.#broken || this.ended.aborted) return;
    this.#broken = true;
    this.#onFatal(error);
  }

  /** Takes one message, or a batch, as text. Throws if it is not JSON. */
  receive(text: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      throw new PlugboardError("PROTOCOL", "the server's answer is not JSON", { cause: error });
    }
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) this.#dispatch(message);
  }

  /** Sends one of the host's own requests and receives its answer; a rejection fails the call. */
  protected abstract exchange(outgoing: Outgoing, id: number): Promise<void>;
  protected abstract sendForSdk(outgoing: Outgoing, id: string | number): Promise<void>;
  protected abstract notify(message: object): Promise<void>;
  /** A response to one of the SDK's requests has come. */
  protected answered(_id: string | number): void {}

  #request(
    method: string,
    params: JsonObject,
    options: RequestOptions,
    withProgress: boolean,
  ): Promise<unknown> {
    return this.calls.request(method, options, (id) => {
      const meta = { ...this.meta, ...(withProgress && { progressToken: id }) };
      const full = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: full });
      const { isProbe = false } = options;
      const ended = new AbortController();
      this.#streams.set(id, { ended, isProbe });
      const hold: Hold = (wait) => this.calls.hold(id, wait);
      void this.#run({ method, params: full, body, signal: ended.signal, hold, isProbe }, id);
    });
  }

  async #run(outgoing: Outgoing, id: number): Promise<void> {
    try {
      await this.exchange(outgoing, id);
    } catch (error) {
      const reason = toPlugboardError(error, "PROTOCOL");
      this.calls.fail(id, reason);
      if (isOver(reason) && !(outgoing.isProbe && reason.code === "NETWORK")) this.fatal(reason);
    } finally {
      this.#streams.delete(id);
    }
  }

  #dispatch(message: unknown): void {
    if (!isJsonObject(message)) return;
    const { id, method, params } = message;
    if (method === undefined && (typeof id === "number" || typeof id === "string")) {
      if (typeof id === "number" && this.calls.owns(id)) {
        this.calls.settle(id, message);
        return;
      }
      this.answered(id);
    } else if (method === "notifications/progress" && isJsonObject(params)) {
      if (this.calls.progress(params.progressToken, params)) return;
    }
    try {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks every message against its schema
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(toPlugboardError(error, "PROTOCOL"));
    }
  }

  #abandon(id: number, reason: string): void {
    const stream = this.#streams.get(id);
    stream?.ended.abort();
    // In 2026-07-28, closing the stream cancels the request. A server that does not know it has nothing to cancel.
    if (this.meta !== undefined || this.ended.aborted || stream?.isProbe) return;
    const params = { requestId: id, reason };
    this.notify({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
  }
}

/** The server is gone, or refuses to talk to us. */
function isOver({ code, status }: PlugboardError): boolean {
  return code === "NETWORK" || (code === "NEEDS_AUTH" && status === 401);
}
