// What a session shows to its client. Everything but passing notices is kept in the history as well.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { SessionRedactor } from "../../../core/board/session-redactor.ts";
import type { Clock } from "../../../util/clock.ts";
import { type CallAttachments, CallDisplay } from "../calls/display.ts";
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
  redactor: SessionRedactor;
  /** The session's directories, absolute: `cwd` is one of `roots`. */
  cwd: string;
  roots: readonly string[];
  hasTitle: boolean;
}

export class SessionOutput {
  readonly #display: CallDisplay;
  readonly #options: SessionOutputOptions;
  readonly #throttle: ProgressThrottle;
  #hasTitle: boolean;
  /** Whether the last update was part of a message whose paragraph has not ended. */
  #isMidMessage = false;
  /** Settles when everything so far is shown. Undefined while nothing waits for a gateway. */
  #waiting: Promise<void> | undefined;

  constructor(options: SessionOutputOptions) {
    const { clock, cwd, roots, hasTitle } = options;
    this.#options = options;
    this.#hasTitle = hasTitle;
    this.#throttle = new ProgressThrottle(clock, (update) => this.#emit(update));
    this.#display = new CallDisplay({ cwd, roots, send: (update) => this.#send(update) });
  }

  /** Shows an update without keeping it. */
  show(update: SessionUpdate): void {
    this.#inOrder(() => this.#send(update));
  }

  /** Resolves when the client has been sent everything so far. */
  async settled(): Promise<void> {
    while (this.#waiting !== undefined) await this.#waiting;
  }

  /** Shows a file's text or a terminal with a running call, from now until it ends. */
  attach(toolCallId: string, attachments: CallAttachments): void {
    const terminals = attachments.content?.filter(({ type }) => type === "terminal") ?? [];
    this.#searched(attachments, { content: terminals }, (told) =>
      this.#display.attach(toolCallId, told),
    );
  }

  /** For a question to the client: what somebody must see to answer stays, if the gateway cannot be asked. */
  withoutSecrets<Value>(value: Value): Promise<Value> {
    const { redactor } = this.#options;
    return redactor.everywhere(value).catch(() => redactor.value(value));
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
    const { redactor } = this.#options;
    if (this.#hasTitle || titleOf(redactor.text(prompt)) === undefined) return;
    this.#hasTitle = true;
    // Without a gateway to ask, the session has no title rather than one with a secret.
    this.#searched(prompt, "", (told) => {
      const title = titleOf(told);
      if (title !== undefined) this.#send({ sessionUpdate: "session_info_update", title });
    });
  }

  close(): void {
    this.#throttle.close();
  }

  #emit(update: SessionUpdate): void {
    this.#isMidMessage = endsMidMessage(update);
    const tell = (told: SessionUpdate): void => this.#tell(told);
    // A model may repeat what a person has typed, and what fails may repeat the model.
    if (update.sessionUpdate === "tool_call") {
      return this.#searched(
        update,
        { ...update, title: update.name ?? "", rawInput: undefined },
        tell,
      );
    }
    if (update.sessionUpdate === "tool_call_update" && update.status === "failed") {
      return this.#searched(update, this.#options.redactor.value(update), tell);
    }
    // What else follows of a call is the board's, which has no secrets in it.
    this.#inOrder(() => tell(update));
  }

  /** Tells the value without secrets; `unread` if the gateway, which knows some of them, could not be asked. */
  #searched<Value>(value: Value, unread: Value, tell: (told: Value) => void): void {
    const { redactor } = this.#options;
    if (!redactor.isElsewhere) return this.#inOrder(() => tell(redactor.value(value)));
    this.#inOrder(() => redactor.everywhere(value).then(tell, () => tell(unread)));
  }

  #tell(update: SessionUpdate): void {
    const { shown, kept } = this.#display.complete(limitSize(withMessageId(update)));
    this.#send(shown);
    this.#options.record?.add(kept);
  }

  #send(update: SessionUpdate): void {
    const { sessionId, client } = this.#options;
    void client.update(sessionId, withMessageId(update));
  }

  /** What comes while a gateway is asked waits for it. `act` does not reject. */
  #inOrder(act: () => void | Promise<void>): void {
    const before = this.#waiting;
    const done = before === undefined ? act() : before.then(act);
    if (done === undefined) return;
    const waiting = done.then(() => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    this.#waiting = waiting;
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
