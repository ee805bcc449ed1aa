// What the transports have in common that send each request by itself, to a URL or to an ACP client: the host's own
// requests, dispatching incoming messages, and the end of the conversation. How a message is sent is up to each.

import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/client";
import { PlugboardError, toPlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { LightSignal } from "../../../util/abort.ts";
import { Backlog } from "./backlog.ts";
import { isInitialized, type Wire } from "./carrier.ts";
import { faultOfText } from "./dropped-line.ts";
import type { Quote } from "./errors.ts";
import type { Outgoing, RemoteOptions } from "./http-session.ts";
import { parseMessage } from "./parse-message.ts";
import { PendingCalls, type RequestOptions } from "./pending-calls.ts";
import { metaFor } from "./request-meta.ts";
import type { Tap } from "../tap.ts";
import type { Hold } from "./send-authorized.ts";

type RemoteTransportOptions = Pick<RemoteOptions, "clock" | "quote" | "maxMessageBytes" | "tap">;

export abstract class RemoteTransport implements Wire {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Wire["onmessage"]>;
  onlog?: NonNullable<Wire["onlog"]>;
  room?: NonNullable<Wire["room"]>;

  protected readonly calls: PendingCalls;
  protected meta: JsonObject | undefined;
  protected readonly tap: Tap;
  readonly #streams = new Map<number, { ended: LightSignal; options: RequestOptions }>();
  readonly #end = new AbortController();
  readonly #onFatal: (error: PlugboardError) => void;
  readonly #quote: Quote;
  readonly #maxMessageBytes: number;
  readonly #backlog: Backlog;
  /** The size of the requests that have no answer yet: each is kept, because it may have to be sent again. */
  #held = 0;
  #initializeResult: JsonObject | undefined;
  #broken = false;

  /** Calls `onFatal` once, when the server cannot be reached any more; the owner then calls `end`. */
  constructor(
    { clock, quote, maxMessageBytes, tap }: RemoteTransportOptions,
    onFatal: (error: PlugboardError) => void,
  ) {
    this.#onFatal = onFatal;
    this.#quote = quote;
    this.#maxMessageBytes = maxMessageBytes;
    this.tap = tap ?? { listener: undefined };
    this.calls = new PendingCalls(clock, (id, reason) => this.#abandon(id, reason), quote);
    this.#backlog = new Backlog(() => this.#held <= maxMessageBytes);
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
    if (isInitialized(message) && this.#initializeResult !== undefined) return;
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
    this.calls.failAll(error, this.#backlog.clear());
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

  /**
   * Takes one message, or a batch, as text. Throws if it is not JSON, or too much of it. Returns what is neither a request nor a
   * notification nor an answer to something that was asked. `id` is the request whose own stream this is.
   */
  receive(text: string, id?: number): unknown[] {
    if (this.tap.listener !== undefined) this.tap.listener({ kind: "received", text });
    let parsed: unknown;
    try {
      parsed = parseMessage(text, this.#maxMessageBytes);
    } catch (error) {
      if (error instanceof PlugboardError) throw error;
      const quote = this.#quote(text);
      const fault = faultOfText(text) ?? "is not valid JSON";
      const message = `the server's answer ${fault}: ${quote}`;
      throw new PlugboardError("PROTOCOL", message, { cause: error, quote });
    }
    const messages: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
    return messages.filter((message) => !this.dispatch(message, id));
  }

  /** `receive` for a stream that carries the answers to all requests: what cannot be read fails its own call alone. */
  receiveAny(text: string): void {
    try {
      this.receive(text);
    } catch (error) {
      const reason = toPlugboardError(error, "PROTOCOL");
      const isJson = reason.code === "MESSAGE_TOO_LARGE";
      if (!this.calls.failUnreadable(text, isJson ? reason : undefined)) this.onerror?.(reason);
    }
  }

  /** `receiveAny`, and when more may be read. */
  take(text: string): Promise<void> | undefined {
    this.receiveAny(text);
    return this.room?.();
  }

  /** A request has failed because the server is gone, or seems to be. */
  protected failed(_method: string, error: PlugboardError): void {
    this.fatal(error);
  }

  /** Sends one of the host's own requests and receives its answer; a rejection fails the call. */
  protected abstract exchange(outgoing: Outgoing, id: number): Promise<void>;
  protected abstract sendForSdk(outgoing: Outgoing, id: string | number): Promise<void>;
  protected abstract notify(message: object): Promise<void>;
  /** A response to a request that is not the host's own has come; false if nobody made such a request. */
  protected answered(_id: string | number): boolean {
    return true;
  }

  #request(
    method: string,
    params: JsonObject,
    options: RequestOptions,
    withProgress: boolean,
  ): Promise<unknown> {
    const send = (id: number): void => {
      const meta = {
        ...metaFor(this.meta, options),
        ...(withProgress && { progressToken: id }),
      };
      const full = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: full });
      const { isProbe = false } = options;
      const ended = new LightSignal();
      this.#streams.set(id, { ended, options });
      this.#held += body.length;
      const hold: Hold = (wait) => this.calls.hold(id, wait);
      const timeLeft = (): number => this.calls.timeLeft(id);
      void this.#run({ method, params: full, body, signal: ended, hold, timeLeft, isProbe }, id);
    };
    return this.calls.request(method, options, (id) => {
      if (this.#backlog.isOpen) return send(id);
      this.#backlog.add(id, () => this.calls.attempt(id, send));
    });
  }

  async #run(outgoing: Outgoing, id: number): Promise<void> {
    try {
      await this.exchange(outgoing, id);
    } catch (error) {
      const reason = toPlugboardError(error, "PROTOCOL");
      this.calls.fail(id, reason);
      if (isOver(reason) && !(outgoing.isProbe && reason.code === "NETWORK")) {
        this.failed(outgoing.method, reason);
      }
    } finally {
      this.#streams.delete(id);
      this.#held -= outgoing.body.length;
      this.#backlog.advance();
    }
  }

  /** Takes one message. False if it makes no sense here. `streamOf` is the request that it came for, if that is known. */
  protected dispatch(message: unknown, streamOf: number | undefined): boolean {
    if (!isJsonObject(message)) return false;
    const { id, method, params } = message;
    let isKnown = method !== undefined;
    if (method === undefined && (typeof id === "number" || typeof id === "string")) {
      const ownId = this.calls.ownId(id);
      if (ownId !== undefined) return this.calls.settle(ownId, message);
      isKnown = this.answered(id);
    } else if (method === "notifications/progress" && isJsonObject(params)) {
      if (this.calls.progress(params.progressToken, params)) return true;
    } else if (method === "notifications/message" && streamOf !== undefined && this.onlog) {
      this.onlog(params, this.#streams.get(streamOf)?.options ?? { timeout: 0 });
      return true;
    }
    try {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks every message against its schema
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(toPlugboardError(error, "PROTOCOL"));
    }
    return isKnown;
  }

  #abandon(id: number, reason: string): PlugboardError | undefined {
    if (this.#backlog.remove(id)) {
      const message = "the server has not answered earlier requests";
      return new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" });
    }
    const stream = this.#streams.get(id);
    stream?.ended.abort();
    // In 2026-07-28, closing the stream cancels the request. A server that does not know it has nothing to cancel.
    if (this.meta !== undefined || this.ended.aborted || stream?.options.isProbe) return undefined;
    const params = { requestId: id, reason };
    this.notify({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
    return undefined;
  }
}

/** The server is gone, or refuses to talk to us. */
function isOver({ code, status }: PlugboardError): boolean {
  return code === "NETWORK" || (code === "NEEDS_AUTH" && status === 401);
}
