// Newline-delimited JSON-RPC over a child's pipes: an SDK `Transport`, plus the host's own requests, which bypass
// the SDK. It owns the bytes, not the process.

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Clock } from "../../../util/clock.ts";
import { Backlog } from "./backlog.ts";
import { isInitialized, type Wire } from "./carrier.ts";
import { PipeWriter } from "../../process/pipes.ts";
import {
  type DroppedLine,
  faultOfId,
  faultOfRest,
  faultOfText,
  faultOfUnfinished,
  mayBeId,
} from "./dropped-line.ts";
import { messageTooLarge, type Quote } from "./errors.ts";
import { LineReader } from "../../../util/line-reader.ts";
import { parseMessage } from "./parse-message.ts";
import { PendingCalls, type RequestOptions } from "./pending-calls.ts";
import type { Tap } from "../tap.ts";
import { type CallerMeta, metaFor } from "./request-meta.ts";

/** After this many lines in a row that are not messages we give up. A chatty start-up stays below. */
const MAX_JUNK_LINES = 10_000;
/**
 * Requests wait while more than this is unsent. It is many times what a pipe takes at once, so a server that reads
 * never waits for us.
 */
const MAX_UNSENT = 1024 ** 2;
/** Messages of one turn are written when they are this long together, in characters: a dozen calls or so. */
const ENOUGH_TO_WRITE = 2048;

export interface StdioTransportOptions {
  stdin: Writable;
  /** It may overwrite a chunk when its listeners have returned. */
  stdout: Readable;
  maxMessageBytes: number;
  clock: Clock;
  quote: Quote;
  tap?: Tap | undefined;
  /** Gets each dropped line: one that is not a message. */
  onJunk: (line: string) => void;
  /** Gets each entry of a log that the server sends as a message, to anybody who may find out from it why the server failed. */
  onLog: (entry: JsonObject) => void;
  /** The conversation cannot go on. Called once; the owner then calls `end`. */
  onFatal: (error: PlugboardError) => void;
}

export class StdioTransport implements Wire {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  room?: NonNullable<Wire["room"]>;

  readonly #stdin: Writable;
  readonly #pipe: PipeWriter;
  readonly #options: StdioTransportOptions;
  readonly #calls: PendingCalls;
  readonly #reader: LineReader;
  readonly #backlog: Backlog;
  readonly #tap: Tap;
  /** One function for every write. */
  readonly #onWritten = (error?: Error | null): void => {
    if (!error && !this.#closed) this.#backlog.advance();
  };
  /** Messages that are written together. */
  #outbox = "";
  /** Until the end of this turn. */
  #isGathering = false;
  #junk = 0;
  /** The last dropped line, and the last of those that would be messages but for a fault. */
  #lastDropped: (DroppedLine & { at: number }) | undefined;
  #lastSpoilt: (DroppedLine & { at: number }) | undefined;
  /** The line that is being read, once it has been reported as junk. */
  #reported: string | undefined;
  #broken = false;
  /** The server writes no more; what is read now is the rest. */
  #hasEnded = false;
  #closed = false;
  /** The result of the host's own `initialize`, for the SDK's. */
  #initializeResult: JsonObject | undefined;
  #meta: JsonObject | undefined;
  /** The members of `#meta` as JSON, after a comma. */
  #metaMembers = "";
  /** The tool that was called last, and its name as JSON. */
  #lastName = "";
  #lastNameJson = '""';

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#stdin = options.stdin;
    this.#pipe = new PipeWriter(options.stdin);
    this.#tap = options.tap ?? { listener: undefined };
    const { clock, quote, maxMessageBytes } = options;
    this.#calls = new PendingCalls(
      clock,
      (id, why) => this.#abandon(id, why),
      quote,
      (at) => this.droppedSince(at),
    );
    const room = Math.min(MAX_UNSENT, maxMessageBytes);
    this.#backlog = new Backlog(() => this.#unsent() <= room);
    this.#reader = new LineReader({
      maxBytes: options.maxMessageBytes,
      areChunksBorrowed: true,
      onLine: (line) => this.#receive(line),
      onOverflow: () => this.#fatal(messageTooLarge(options.maxMessageBytes)),
    });
    options.stdout.on("data", (chunk: Buffer) => {
      this.#reader.push(chunk);
      this.#waitForRoom();
    });
    options.stdout.on("error", (error) => this.#fatal(closedBy("reading failed", error)));
    options.stdout.on("end", () => {
      this.#hasEnded = true;
      this.#reader.end();
      this.#fatal(closedBy("the server closed its output"));
    });
    options.stdin.on("error", (error) =>
      this.#fatal(closedBy("the server does not take input", error)),
    );
  }

  /** The SDK calls this when it attaches; the pipes are open already. */
  async start(): Promise<void> {}

  /** The SDK's own traffic: answers and notifications. It never waits; if the server does not read, it is refused. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message && message.method === "initialize" && this.#initializeResult) {
      const id = "id" in message ? message.id : 0;
      const answer = { jsonrpc: "2.0" as const, id, result: this.#initializeResult };
      queueMicrotask(() => this.onmessage?.(answer));
      return;
    }
    if (isInitialized(message) && this.#initializeResult) return;
    if (this.#closed) throw closedBy("the connection is closed");
    if (this.#unsent() > this.#options.maxMessageBytes) throw notReading();
    this.#post(`${JSON.stringify(message)}\n`);
  }

  adoptInitializeResult(result: JsonObject): void {
    this.#initializeResult = result;
  }

  adoptMeta(meta: JsonObject): void {
    this.#meta = meta;
    this.#metaMembers = members(meta);
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<unknown> {
    return this.#calls.request(method, options, (id) => {
      const toText = (): string =>
        `${JSON.stringify({ jsonrpc: "2.0", id, method, params: this.#withMeta(params, options) })}\n`;
      if (this.#backlog.isOpen) this.#post(toText());
      else this.#postLater(id, toText);
    });
  }

  /** `request("tools/call", …)` with the message built by hand: this is the hot path. */
  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<unknown> {
    return this.#calls.request("tools/call", options, (id) => {
      if (this.#backlog.isOpen) this.#postCall(this.#toolCall(id, name, args, options));
      else this.#postLater(id, () => this.#toolCall(id, name, args, options));
    });
  }

  /** What the server wrote since then that is not a message, most telling first. */
  droppedSince(since: number): DroppedLine | undefined {
    const { unfinished } = this.#reader;
    if (this.#lastSpoilt !== undefined && this.#lastSpoilt.at >= since) return this.#lastSpoilt;
    if (unfinished !== undefined) {
      const { bytes, start } = unfinished;
      return { fault: faultOfUnfinished(bytes, start), shown: this.#options.quote(start) };
    }
    const last = this.#lastDropped;
    return last !== undefined && last.at >= since ? last : undefined;
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
    this.#calls.failAll(error, this.#backlog.clear());
    this.onclose?.();
  }

  async close(): Promise<void> {
    this.end(new PlugboardError("CONNECTION_CLOSED", "the connection was closed"));
  }

  #toolCall(id: number, name: string, args: JsonObject, options: RequestOptions): string {
    const { extra, argsJson = JSON.stringify(args) } = options;
    const more = extra === undefined ? "" : `${JSON.stringify(extra).slice(1, -1)},`;
    return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${more}"name":${this.#jsonOfName(name)},"arguments":${argsJson},"_meta":{"progressToken":${id}${this.#metaMembersFor(options)}}}}\n`;
  }

  /** A call is often followed by another of the same tool. */
  #jsonOfName(name: string): string {
    if (name !== this.#lastName) {
      this.#lastName = name;
      this.#lastNameJson = JSON.stringify(name);
    }
    return this.#lastNameJson;
  }

  /** `toText` is called when there is room to send the request. */
  #postLater(id: number, toText: () => string): void {
    this.#backlog.add(id, () => this.#calls.attempt(id, () => this.#post(toText())));
  }

  /** What the server has not taken yet, in characters: most of them are a byte. */
  #unsent(): number {
    return this.#outbox.length + this.#stdin.writableLength;
  }

  /**
   * Messages of one turn of the event loop share writes, since each write costs as much as several messages. They are
   * not all held back to the end of the turn: the server can work on the first while we prepare the others.
   */
  #post(text: string): void {
    if (this.#tap.listener !== undefined) this.#tap.listener({ kind: "sent", text });
    if (!this.#isGathering) {
      this.#isGathering = true;
      process.nextTick(this.#endTurn);
    }
    this.#outbox += text;
    if (this.#outbox.length >= ENOUGH_TO_WRITE) this.#flush();
  }

  /** If the server has nothing else to do, a call goes out at once: even a tick would be a noticeable part of it. */
  #postCall(text: string): void {
    if (this.#isGathering || this.#calls.size > 1) return this.#post(text);
    if (this.#tap.listener !== undefined) this.#tap.listener({ kind: "sent", text });
    this.#outbox = text;
    this.#flush();
  }

  readonly #endTurn = (): void => {
    this.#isGathering = false;
    this.#flush();
    // No callback reports that a message that was written at once has made room.
    if (!this.#closed) this.#backlog.advance();
  };

  #flush(): void {
    const text = this.#outbox;
    this.#outbox = "";
    if (text === "" || this.#closed) return;
    const rest = this.#pipe.write(text);
    if (rest.length > 0) this.#stdin.write(rest, this.#onWritten);
  }

  /** Returns why, if the server has never seen the request. */
  #abandon(requestId: number, reason: string): PlugboardError | undefined {
    if (this.#backlog.remove(requestId)) return notReading();
    // A cancellation is a courtesy: a server that reads nothing does not get ever more of them.
    if (this.#closed || this.#unsent() > this.#options.maxMessageBytes) return undefined;
    const params = this.#withMeta({ requestId, reason });
    this.#post(
      `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })}\n`,
    );
    return undefined;
  }

  #withMeta(params: JsonObject, options: CallerMeta = {}): JsonObject {
    const meta = metaFor(this.#meta, options);
    return meta === undefined ? params : { ...params, _meta: meta };
  }

  #metaMembersFor(options: CallerMeta): string {
    const meta = metaFor(this.#meta, options);
    return meta === this.#meta ? this.#metaMembers : members(meta);
  }

  #waitForRoom(): void {
    const room = this.room?.();
    if (room === undefined) return;
    const { stdout } = this.#options;
    stdout.pause();
    void room.then(() => stdout.resume());
  }

  #receive(line: string): void {
    // Text that is said after a pipe broke may be why it broke, so it is still heard.
    if (this.#closed || this.#junk >= MAX_JUNK_LINES) return;
    if (this.#tap.listener !== undefined) this.#tap.listener({ kind: "received", text: line });
    this.#reported = undefined;
    let message: unknown;
    try {
      message = parseMessage(line, this.#options.maxMessageBytes);
    } catch (error) {
      if (error instanceof PlugboardError) return this.#refuse(line, error);
      // The server may have ended while it wrote an answer. How it ended says more than what is left of it.
      if (this.#hasEnded) this.#drop(line, faultOfRest(line));
      else if (!this.#calls.failUnreadable(line)) this.#drop(line);
      return;
    }
    // 2025-03-26 had batches.
    if (Array.isArray(message)) for (const each of message) this.#dispatch(each, line);
    else this.#dispatch(message, line);
  }

  #refuse(line: string, error: PlugboardError): void {
    if (!this.#calls.failUnreadable(line, error)) this.#drop(line, "has too many values");
  }

  #dispatch(message: unknown, line: string): void {
    // An earlier message of the same batch may have ended the conversation.
    if (this.#closed || this.#junk >= MAX_JUNK_LINES) return;
    if (!isJsonObject(message)) return this.#drop(line);
    const { id, method } = message;
    if (method === undefined) {
      const ownId = this.#calls.ownId(id);
      if (ownId !== undefined) {
        // Nobody waits for a late or repeated answer, so it is dropped.
        if (this.#calls.settle(ownId, message)) this.#junk = 0;
        return;
      }
    }
    // MCP has the first name; servers with a logger of their own use the second.
    if ((method === "notifications/message" || method === "log") && isJsonObject(message.params))
      this.#options.onLog(message.params);
    const isAnswer = message.result !== undefined || message.error !== undefined;
    // No message, such as a line of a logger, which may say why the server ends.
    if (method === undefined && !isAnswer) return this.#drop(line);
    // A server that no longer reads may have answered before, but nothing new begins with it.
    if (this.#broken) return;
    if (method === undefined) {
      const hasNoId = id === undefined || id === null;
      if (hasNoId && message.error !== undefined && this.#calls.failOnly(message.error)) return;
      if (!mayBeId(id)) {
        const fault = faultOfId(id);
        // A number that was spoilt on its way back: nothing else may answer the call.
        if (typeof id === "number") this.#calls.suspect(fault, line);
        return this.#drop(line, fault);
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

  #drop(line: string, fault?: string): void {
    this.#junk += 1;
    // A line is shown once, however much junk is in it: otherwise one of a few megabytes would hold up everybody.
    if (this.#reported !== line) this.#report(line, fault);
    if (this.#junk < MAX_JUNK_LINES) return;
    const message = `${MAX_JUNK_LINES} lines in a row on the server's stdout are not JSON-RPC`;
    this.#fatal(new PlugboardError("PROTOCOL", message));
  }

  #report(line: string, fault = faultOfText(line)): void {
    this.#reported = line;
    this.#options.onJunk(line);
    const { clock, quote } = this.#options;
    this.#lastDropped = { at: clock.monotonic(), fault, shown: quote(line) };
    if (fault !== undefined) this.#lastSpoilt = this.#lastDropped;
  }

  #fatal(error: PlugboardError): void {
    if (this.#broken || this.#closed) return;
    this.#broken = true;
    this.#options.onFatal(error);
  }
}

/** The members of an object as JSON, after a comma. */
function members(object: JsonObject = {}): string {
  const json = JSON.stringify(object).slice(1, -1);
  return json === "" ? "" : `,${json}`;
}

/** The server's own process may be stopped, busy with one call, or waiting for us to read. */
function notReading(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the server does not read its input", {
    quote: "",
  });
}

function closedBy(what: string, cause?: unknown): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", what, { cause });
}
