// What a session shows to its client. Everything but passing notices is kept in the history as well.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { BoardRedactor } from "../../../core/types/redactor.ts";
import type { Clock } from "../../../util/clock.ts";
import { CallDisplay } from "../calls/display.ts";
import { ProgressThrottle } from "../calls/progress-throttle.ts";
import { limitSize } from "../calls/size-limit.ts";
import { titleOf } from "../history/history.ts";
import type { SessionRecord } from "../history/record.ts";
import type { AcpClient } from "../wire/client.ts";
import { hasEnded, quoted, textBlock } from "../wire/content.ts";

interface SessionOutputOptions {
  sessionId: string;
  client: Pick<AcpClient, "update" | "showsNotices">;
  clock: Clock;
  /** Undefined if nothing is kept. */
  record: SessionRecord | undefined;
  redactor: BoardRedactor;
  /** The session's directories, absolute: `cwd` is one of `roots`. */
  cwd: string;
  roots: readonly string[];
  hasTitle: boolean;
}

export class SessionOutput {
  /** What the session's calls show besides their answers. */
  readonly display: CallDisplay;
  readonly #options: SessionOutputOptions;
  readonly #throttle: ProgressThrottle;
  #hasTitle: boolean;
  /** Whether the last update was part of a message whose paragraph has not ended. */
  #isMidMessage = false;

  constructor(options: SessionOutputOptions) {
    const { clock, cwd, roots, hasTitle } = options;
    this.#options = options;
    this.#hasTitle = hasTitle;
    this.#throttle = new ProgressThrottle(clock, (update) => this.#emit(update));
    this.display = new CallDisplay({ cwd, roots, send: (update) => this.show(update) });
  }

  /** Shows an update without keeping it. */
  show(update: SessionUpdate): void {
    const { sessionId, client } = this.#options;
    void client.update(sessionId, withMessageId(update));
  }

  beginAnswer(): void {
    this.#isMidMessage = false;
  }

  /** Shows an update and keeps it. Progress of a call is throttled. */
  emit(update: SessionUpdate): void {
    if (update.sessionUpdate === "tool_call_update") {
      if (!hasEnded(update.status)) return this.#throttle.add(update);
      this.#throttle.end(update.toolCallId);
    }
    this.#emit(update);
  }

  /** Says something in the agent's own words, which are not the model's. */
  say(text: string): void {
    this.emit(quoted(textBlock(this.#asParagraph(text))));
  }

  /** Shows a thought without keeping it. */
  think(text: string): void {
    this.show({ sessionUpdate: "agent_thought_chunk", content: textBlock(text) });
  }

  /**
   * Shows a notice without keeping it. For a client that does not show notices, a warning is a message, and information is
   * a thought: scripts take every message for a part of the answer.
   */
  notify(text: string, severity: "info" | "warning" = "warning"): void {
    if (this.#options.client.showsNotices()) {
      this.show({ sessionUpdate: "notice", severity, title: text });
      return;
    }
    if (severity === "info") return this.think(`${text}\n\n`);
    const content = textBlock(`${this.#asParagraph(text)}\n\n`);
    this.show({ sessionUpdate: "agent_message_chunk", content });
    this.#isMidMessage = false;
  }

  /** Sends the session's title once: the one that a list of sessions shows. */
  sendTitle(prompt: string): void {
    const title = titleOf(this.#options.redactor.text(prompt));
    if (this.#hasTitle || title === undefined) return;
    this.#hasTitle = true;
    this.show({ sessionUpdate: "session_info_update", title });
  }

  close(): void {
    this.#throttle.close();
  }

  #emit(update: SessionUpdate): void {
    this.#isMidMessage = endsMidMessage(update);
    // A model may repeat what a person has typed. What follows of a call is the board's, which has no secrets in it.
    const isNew = update.sessionUpdate === "tool_call";
    const told = isNew ? this.#options.redactor.value(update) : update;
    const { shown, kept } = this.display.complete(limitSize(withMessageId(told)));
    this.show(shown);
    this.#options.record?.add(kept);
  }

  /** Clients join the chunks of a message, so text that is not the model's starts a new paragraph. */
  #asParagraph(text: string): string {
    return this.#isMidMessage ? `\n\n${text}` : text;
  }
}

/** Whatever does not continue the model's answer is a message of its own. */
function withMessageId(update: SessionUpdate): SessionUpdate {
  const { sessionUpdate: kind } = update;
  if (kind !== "agent_message_chunk" && kind !== "agent_thought_chunk") return update;
  return update.messageId ? update : { ...update, messageId: randomUUID() };
}

function endsMidMessage(update: SessionUpdate): boolean {
  if (update.sessionUpdate !== "agent_message_chunk") return false;
  return update.content.type === "text" && !update.content.text.endsWith("\n\n");
}
