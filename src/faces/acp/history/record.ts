// The file of one session while it is open: a line for everything that an editor shows again, without the
// credentials that the session was opened with.

import type { FileHandle } from "node:fs/promises";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { RedactingStream, Redactor } from "../../../secrets/redactor.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { isOver } from "../calls/tool-calls.ts";
import { isQuoted, textBlock } from "../wire/content.ts";

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

/** What is streamed is written in pieces of this many characters, or of this time: a crash costs no more. */
const PIECE_CHARS = 8192;
const PIECE_MS = 1000;

type StreamKind = "agent_message_chunk" | "agent_thought_chunk";

interface Streamed {
  kind: StreamKind;
  /** A secret may come in pieces: its beginning is held back. */
  redacting: RedactingStream;
  /** Not written yet. */
  told: string;
}

export interface RecordOptions {
  redactor: Redactor;
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

  /** Not to be written from now on. */
  hide(secrets: readonly string[]): void {
    for (const secret of secrets) this.#options.redactor.add(secret);
  }

  add(update: SessionUpdate): void {
    if (!isKept(update.sessionUpdate)) return;
    // How far a call has come is about the moment as well.
    if (update.sessionUpdate === "tool_call_update" && !isOver(update.status)) return;
    const { sessionUpdate: kind } = update;
    const isStream = kind === "agent_message_chunk" || kind === "agent_thought_chunk";
    // What a model has not said is told from what it has said.
    if (!isStream || update.content.type !== "text" || isQuoted(update)) {
      this.#endStream();
      this.write({ update });
      return;
    }
    if (this.#streamed?.kind !== kind) this.#endStream();
    const streamed = (this.#streamed ??= {
      kind,
      redacting: this.#options.redactor.stream(),
      told: "",
    });
    streamed.told += streamed.redacting.push(update.content.text);
    if (streamed.told.length >= PIECE_CHARS) this.#writePiece(streamed);
    else this.#piece ??= this.#options.clock.later(PIECE_MS, () => this.#writePiece(streamed));
  }

  write(line: object): void {
    const text = `${JSON.stringify(this.#options.redactor.value(line))}\n`;
    this.#tail = this.#tail.then(async () => {
      if (!this.#hasFailed) await this.#file.appendFile(text).catch(this.#fail);
    });
  }

  /** Resolves when everything is written, or cannot be: a session goes on without its history. */
  async flush(): Promise<void> {
    this.#endStream();
    await this.#tail;
  }

  /** The same in the middle of a stream, but for what may be the beginning of a secret. */
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
    streamed.told += streamed.redacting.end();
    this.#writePiece(streamed);
  }

  #writePiece(streamed: Streamed): void {
    this.#piece?.cancel();
    this.#piece = undefined;
    const { kind, told } = streamed;
    if (told === "") return;
    streamed.told = "";
    this.write({ update: { sessionUpdate: kind, content: textBlock(told) } });
  }
}
