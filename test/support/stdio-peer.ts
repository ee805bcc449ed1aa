// A StdioTransport between a server that a test speaks for and the SDK that a test stands in for.

import { PassThrough, Writable } from "node:stream";
import type { PlugboardError } from "../../src/core/types/errors.ts";
import type { JsonObject } from "../../src/core/types/json.ts";
import { StdioTransport } from "../../src/core/upstream/transport/stdio.ts";
import { excerpt } from "../../src/util/text.ts";
import { ManualClock, settle } from "./manual-clock.ts";

export const TIMEOUT = { timeout: 1000 };
/** A server's stdin that counts writes, and takes no more of them while it is held. */
class Stdin extends Writable {
  readonly writes: string[] = [];
  #held = false;
  #resume: (() => void) | undefined;

  override _write(chunk: Buffer, _: string, done: (error?: Error) => void): void {
    this.writes.push(chunk.toString());
    if (this.#held) this.#resume = () => done();
    else done();
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#resume?.();
  }

  /** What was sent, message by message. */
  messages(): JsonObject[] {
    const lines = this.writes.join("").split("\n");
    if (lines.pop() !== "") throw new Error("the last message has no newline at its end");
    return lines.map((line) => JSON.parse(line) as JsonObject);
  }
}

/** `junk`, `log`, `fatal` and `forSdk` collect what the transport tells its owner and the SDK. */
export function openTransport(maxMessageBytes = 1 << 20) {
  const clock = new ManualClock();
  const stdin = new Stdin();
  const stdout = new PassThrough();
  const junk: string[] = [];
  const log: JsonObject[] = [];
  const fatal: PlugboardError[] = [];
  const forSdk: unknown[] = [];
  const transport = new StdioTransport({
    stdin,
    stdout,
    maxMessageBytes,
    // What a server says in an error has a limit of its own.
    quote: (received, max) =>
      max === undefined ? JSON.stringify(received) : excerpt(received, (text) => text, max),
    clock,
    onJunk: (line) => junk.push(line),
    onLog: (entry) => log.push(entry),
    onFatal: (error) => fatal.push(error),
  });
  transport.onmessage = (message) => forSdk.push(message);
  /** The server writes, and everything that follows from it has happened. */
  async function write(text: string): Promise<void> {
    stdout.write(text);
    await settle();
  }
  async function answer(...messages: unknown[]): Promise<void> {
    await write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }
  /** Starts a call and gives its id as the server sees it. */
  async function call(options: Parameters<StdioTransport["callTool"]>[2] = TIMEOUT) {
    const outcome = transport.callTool("add", {}, options).catch((error: unknown) => error);
    await settle();
    return { outcome, id: stdin.messages().at(-1)?.id as number };
  }
  return { clock, stdin, stdout, junk, log, fatal, forSdk, transport, write, answer, call };
}
