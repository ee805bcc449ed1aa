// The file of one session while it is open: a line for everything that an editor shows again, without the
// credentials that the session was opened with.

import type { FileHandle } from "node:fs/promises";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Redactor } from "../../secrets/redactor.ts";
import { textBlock } from "./content.ts";

/** The rest is about the moment. */
const KEPT: ReadonlySet<string> = new Set([
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
]);

export function isKept(kind: string): boolean {
  return KEPT.has(kind);
}

type StreamKind = "agent_message_chunk" | "agent_thought_chunk";

export class SessionRecord {
  readonly #file: FileHandle;
  readonly #redactor: Redactor;
  /** What is being streamed. A secret may come in pieces, and is seen in the whole alone. */
  #streamed: { kind: StreamKind; text: string } | undefined;
  #tail: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(file: FileHandle, redactor: Redactor) {
    this.#file = file;
    this.#redactor = redactor;
  }

  add(update: SessionUpdate): void {
    if (!isKept(update.sessionUpdate)) return;
    const { sessionUpdate: kind } = update;
    const isStream = kind === "agent_message_chunk" || kind === "agent_thought_chunk";
    if (!isStream || update.content.type !== "text") {
      this.#endStream();
      this.write({ update });
      return;
    }
    if (this.#streamed?.kind !== kind) this.#endStream();
    this.#streamed = { kind, text: (this.#streamed?.text ?? "") + update.content.text };
  }

  write(line: object): void {
    const text = `${JSON.stringify(this.#redactor.value(line))}\n`;
    this.#tail = this.#tail.then(async () => {
      if (this.#failure !== undefined) return;
      await this.#file.appendFile(text).catch((error: unknown) => {
        this.#failure = error;
      });
    });
  }

  /** Resolves when everything is written, or cannot be: a session goes on without its history. */
  async flush(): Promise<void> {
    this.#endStream();
    await this.#tail;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#file.close();
  }

  #endStream(): void {
    if (this.#streamed === undefined) return;
    const { kind, text } = this.#streamed;
    this.#streamed = undefined;
    this.write({ update: { sessionUpdate: kind, content: textBlock(text) } });
  }
}
