// Writes the file of one open session: a line for everything that an editor shows again, without secrets, whether a person
// typed them or a model repeated them.

import type { FileHandle } from "node:fs/promises";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { SessionRedactor, StreamEverywhere } from "../../../core/board/session-redactor.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { hasEnded, isQuoted, textBlock } from "../wire/content.ts";

/** Other kinds of updates describe a moment and are not kept. */
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

/** Streamed text is written after this many characters or milliseconds, so a crash costs no more than that. */
const PIECE_CHARS = 8192;
const PIECE_MS = 1000;

type Chunk = Extract<
  SessionUpdate,
  { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" }
>;

interface Streamed {
  /** Its first piece: the others have the same kind and message. */
  first: Chunk;
  /** Holds back what may be the beginning of a secret, which can arrive in pieces. */
  redacting: StreamEverywhere;
  pending: string;
}

export interface RecordOptions {
  redactor: SessionRedactor;
  clock: Clock;
  onFailure: (error: unknown) => void;
}

export class SessionRecord {
  readonly #file: FileHandle;
  readonly #options: RecordOptions;
  #streamed: Streamed | undefined;
  #piece: Timer | undefined;
  #tail: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(file: FileHandle, options: RecordOptions) {
    this.#file = file;
    this.#options = options;
  }

  add(update: SessionUpdate): void {
    if (!isKept(update.sessionUpdate)) return;
    // A call's progress describes a moment too.
    if (update.sessionUpdate === "tool_call_update" && !hasEnded(update.status)) return;
    // Quoted messages get lines of their own, which keeps their mark apart from the model's words.
    if (!isChunk(update) || update.content.type !== "text" || isQuoted(update)) {
      this.#endStream();
      this.write({ update });
      return;
    }
    const first = this.#streamed?.first;
    if (first?.sessionUpdate !== update.sessionUpdate || first.messageId !== update.messageId) {
      this.#endStream();
    }
    const streamed = (this.#streamed ??= {
      first: update,
      redacting: this.#options.redactor.streamEverywhere(),
      pending: "",
    });
    streamed.pending += update.content.text;
    if (streamed.pending.length >= PIECE_CHARS) this.#writePiece(streamed);
    else this.#piece ??= this.#options.clock.later(PIECE_MS, () => this.#writePiece(streamed));
  }

  write(line: object): void {
    this.#append(() => this.#options.redactor.everywhere(line));
  }

  /** A line that could not be searched for secrets is not written, and nothing after it. */
  #append(makeLine: () => Promise<object | undefined>): void {
    this.#tail = this.#tail.then(async () => {
      if (this.#hasFailed) return;
      try {
        const line = await makeLine();
        if (line !== undefined) await this.#file.appendFile(`${jsonOfAnyDepth(line)}\n`);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  /** Resolves when everything is written. A failed write does not reject: the session continues without a history. */
  async flush(): Promise<void> {
    this.#endStream();
    await this.#tail;
  }

  /** Like `flush`, in the middle of a stream: all but what may be the beginning of a secret is written. */
  async catchUp(): Promise<void> {
    if (this.#streamed !== undefined) this.#writePiece(this.#streamed);
    await this.#tail;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#file.close().catch(this.#fail);
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#hasFailed) this.#options.onFailure(error);
    this.#hasFailed = true;
  };

  #endStream(): void {
    const streamed = this.#streamed;
    if (streamed === undefined) return;
    this.#streamed = undefined;
    this.#writePiece(streamed, true);
  }

  #writePiece(streamed: Streamed, isEnd = false): void {
    this.#piece?.cancel();
    this.#piece = undefined;
    const { first, redacting, pending } = streamed;
    if (pending === "" && !isEnd) return;
    streamed.pending = "";
    this.#append(async () => {
      const text = (await redacting.push(pending)) + (isEnd ? await redacting.end() : "");
      if (text === "") return undefined;
      return this.#options.redactor.value({ update: { ...first, content: textBlock(text) } });
    });
  }
}

function isChunk(update: SessionUpdate): update is Chunk {
  const { sessionUpdate: kind } = update;
  return kind === "agent_message_chunk" || kind === "agent_thought_chunk";
}
