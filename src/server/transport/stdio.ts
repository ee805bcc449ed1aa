// Newline-delimited JSON-RPC over a child's pipes: an SDK `Transport`, plus the host's own requests, which bypass
// the SDK. It owns the bytes, not the process.

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { Clock } from "../../util/clock.ts";
import { byteSize } from "../../util/text.ts";
import type { Wire } from "./carrier.ts";
import { messageTooLarge, type Quote } from "./errors.ts";
import { LineReader } from "./line-reader.ts";
import { PendingCalls, type RequestOptions } from "./pending-calls.ts";

/** After this many lines in a row that are not messages we give up. A chatty start-up stays below. */
const MAX_JUNK_LINES = 10_000;

export interface StdioTransportOptions {
  stdin: Writable;
  stdout: Readable;
  maxMessageBytes: number;
  clock: Clock;
  quote: Quote;
  /** Gets each dropped line: one that is not a message. */
  onJunk: (line: string) => void;
  /** The conversation cannot go on. Called once; the owner then calls `end`. */
  onFatal: (error: PlugboardError) => void;
}

export class StdioTransport implements Wire {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;

  readonly #stdin: Writable;
  readonly #options: StdioTransportOptions;
  readonly #calls: PendingCalls;
  readonly #reader: LineReader;
  #outbox = "";
  #junk = 0;
  #broken = false;
  #closed = false;
  /** The result of the host's own `initialize`, for the SDK's. */
  #initializeResult: JsonObject | undefined;
  #meta: JsonObject | undefined;
  /** The members of `#meta` as JSON, after a comma. */
  #metaMembers = "";

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#stdin = options.stdin;
    const { clock, quote } = options;
    this.#calls = new PendingCalls(clock, (id, why) => this.#sendCancelled(id, why), quote);
    this.#reader = new LineReader({
      maxBytes: options.maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onOverflow: () => this.#fatal(messageTooLarge(options.maxMessageBytes)),
    });
    options.stdout.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    options.stdout.on("error", (error) => this.#fatal(closedBy("reading failed", error)));
    options.stdout.on("end", () => {
      this.#reader.end();
      this.#fatal(closedBy("the server closed its output"));
    });
    options.stdin.on("error", (error) =>
      this.#fatal(closedBy("the server does not take input", error)),
    );
  }

  /** The SDK calls this when it attaches; the pipes are open already. */
  async start(): Promise<void> {}

  /** The SDK's own traffic. Never waits for the server to read. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message && message.method === "initialize" && this.#initializeResult) {
      const id = "id" in message ? message.id : 0;
      const answer = { jsonrpc: "2.0" as const, id, result: this.#initializeResult };
      queueMicrotask(() => this.onmessage?.(answer));
      return;
    }
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    this.#post(`${JSON.stringify(message)}\n`);
  }

  adoptInitializeResult(result: JsonObject): void {
    this.#initializeResult = result;
  }

  adoptMeta(meta: JsonObject): void {
    this.#meta = meta;
    this.#metaMembers = `,${JSON.stringify(meta).slice(1, -1)}`;
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<unknown> {
    const full = this.#withMeta(params);
    return this.#calls.request(method, options, (id) => {
      this.#postRequest(id, JSON.stringify({ jsonrpc: "2.0", id, method, params: full }));
    });
  }

  /** `request("tools/call", …)` with the message built by hand: this is the hot path. */
  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<unknown> {
    return this.#calls.request("tools/call", options, (id) => {
      const extra =
        options.extra === undefined ? "" : `${JSON.stringify(options.extra).slice(1, -1)},`;
      this.#postRequest(
        id,
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${extra}"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)},"_meta":{"progressToken":${id}${this.#metaMembers}}}}`,
      );
    });
  }

  hold<Result>(wait: Promise<Result>): Promise<Result> {
    return this.#calls.holdAll(wait);
  }

  /** The pipes stay open: closing them is the owner's job. */
  end(error: PlugboardError): void {
    if (this.#closed) return;
    // A cancellation from this turn of the event loop must still reach the server.
    this.#flush();
    this.#closed = true;
    this.#calls.failAll(error);
    this.onclose?.();
  }

  async close(): Promise<void> {
    this.end(new PlugboardError("CONNECTION_CLOSED", "the connection was closed"));
  }

  #postRequest(id: number, text: string): void {
    const refusal = this.#refusal();
    if (refusal === undefined) this.#post(`${text}\n`);
    else this.#calls.fail(id, refusal);
  }

  /** Refuses to send while the server does not read: what is unsent would fill the host's memory. */
  #refusal(): PlugboardError | undefined {
    if (this.#closed) return closedBy("the connection is closed");
    if (this.#stdin.writableLength <= this.#options.maxMessageBytes) return undefined;
    const waiting = byteSize(this.#stdin.writableLength);
    return new PlugboardError(
      "SERVER_UNAVAILABLE",
      `the server does not read its input (${waiting} are waiting)`,
    );
  }

  /** Everything from one turn of the event loop goes out in one write. */
  #post(text: string): void {
    if (this.#outbox === "") process.nextTick(() => this.#flush());
    this.#outbox += text;
  }

  #flush(): void {
    const text = this.#outbox;
    this.#outbox = "";
    if (text !== "" && !this.#closed) this.#stdin.write(text);
  }

  #sendCancelled(requestId: number, reason: string): void {
    if (this.#closed) return;
    const params = this.#withMeta({ requestId, reason });
    this.#post(
      `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })}\n`,
    );
  }

  #withMeta(params: JsonObject): JsonObject {
    return this.#meta === undefined ? params : { ...params, _meta: this.#meta };
  }

  #receive(line: string): void {
    // What is said after a pipe broke may be why it broke, so text is still heard; messages are not.
    if (this.#closed || this.#junk >= MAX_JUNK_LINES) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      if (!this.#calls.failUnreadable(line)) this.#drop(line);
      return;
    }
    // 2025-03-26 had batches.
    if (Array.isArray(message)) for (const each of message) this.#dispatch(each, line);
    else this.#dispatch(message, line);
  }

  #dispatch(message: unknown, line: string): void {
    // An earlier message of the same batch may have ended the conversation.
    if (this.#broken || this.#closed) return;
    if (!isJsonObject(message)) return this.#drop(line);
    const { id, method } = message;
    if (method === undefined) {
      const ownId = this.#calls.ownId(id);
      if (ownId !== undefined) {
        // Nobody waits for a late or repeated answer, so it is dropped.
        if (this.#calls.settle(ownId, message)) this.#junk = 0;
        return;
      }
      if (message.result === undefined && message.error === undefined) return this.#drop(line);
      if ((id === undefined || id === null) && message.error !== undefined) {
        this.#calls.failUnclaimed(message.error);
      }
    } else if (typeof method !== "string") {
      return this.#drop(line);
    } else if (method === "notifications/progress" && isJsonObject(message.params)) {
      if (this.#calls.progress(message.params.progressToken, message.params)) return;
    }
    this.#junk = 0;
    try {
      // oxlint-disable-next-line no-unsafe-type-assertion -- the SDK checks every message against its schema
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch {
      // A message that breaks the code that reads it must not end the host.
      this.#drop(line);
    }
  }

  #drop(line: string): void {
    this.#junk += 1;
    this.#options.onJunk(line);
    if (this.#junk < MAX_JUNK_LINES) return;
    const message = `${MAX_JUNK_LINES} lines in a row on the server's stdout are not JSON-RPC`;
    this.#fatal(new PlugboardError("PROTOCOL", message));
  }

  #fatal(error: PlugboardError): void {
    if (this.#broken || this.#closed) return;
    this.#broken = true;
    this.#options.onFatal(error);
  }
}

function closedBy(what: string, cause?: unknown): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", what, { cause });
}
