// What a session tells its client: shown, and kept where it is more than about the moment.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Clock } from "../../../util/clock.ts";
import type { CallDisplay } from "../calls/display.ts";
import { Pace } from "../calls/progress-throttle.ts";
import { shownUpdate } from "../calls/size-limit.ts";
import { isOver } from "../calls/tool-calls.ts";
import { quoted, textBlock } from "../wire/content.ts";
import type { SessionRecord } from "../history/record.ts";
import { type Peer, takesNotices } from "../wire/peer.ts";
import { noticeUpdate } from "../servers/server-watcher.ts";
import { titleOf } from "./title.ts";

interface OutletOptions {
  sessionId: string;
  peer: Pick<Peer, "update" | "capabilities">;
  clock: Clock;
  /** Undefined where nothing is kept. */
  record: SessionRecord | undefined;
  display: CallDisplay;
  /** Something was said in it before. */
  hasTitle: boolean;
}

export class Outlet {
  readonly #options: OutletOptions;
  readonly #pace: Pace;
  #hasTitle: boolean;
  /** The last that was said was a piece of a message, and no end of a paragraph. */
  #isMidMessage = false;

  constructor(options: OutletOptions) {
    this.#options = options;
    this.#pace = new Pace(options.clock, (update) => this.#emit(update));
    this.#hasTitle = options.hasTitle;
  }

  /** Shown as it is, and not kept. */
  show(update: SessionUpdate): void {
    const { sessionId, peer } = this.#options;
    void peer.update(sessionId, update);
  }

  beginAnswer(): void {
    this.#isMidMessage = false;
  }

  /** Signs of life from a call come as fast as anybody can read them, and no faster. */
  emit(update: SessionUpdate): void {
    if (update.sessionUpdate === "tool_call_update") {
      if (!isOver(update.status)) return this.#pace.add(update);
      this.#pace.end(update.toolCallId);
    }
    this.#emit(update);
  }

  /** The agent's own words, which no model has said. */
  say(text: string): void {
    this.emit(quoted(textBlock(this.#apart(text))));
  }

  /** About the moment, so that it is not kept. */
  think(text: string): void {
    this.show({ sessionUpdate: "agent_thought_chunk", content: textBlock(text) });
  }

  /** About the moment, so that it is not kept. */
  notify(text: string): void {
    const isNotice = takesNotices(this.#options.peer);
    this.show(noticeUpdate(isNotice ? text : this.#apart(text), isNotice));
    // A notice stands beside the message, anything else has ended a paragraph of it.
    if (!isNotice) this.#isMidMessage = false;
  }

  /** Once, as the list of sessions will have it. */
  entitle(prompt: string): void {
    const title = titleOf(prompt);
    if (this.#hasTitle || title === undefined) return;
    this.#hasTitle = true;
    this.show({ sessionUpdate: "session_info_update", title });
  }

  close(): void {
    this.#pace.close();
  }

  #emit(update: SessionUpdate): void {
    const { display, record } = this.#options;
    this.#isMidMessage = endsMidMessage(update);
    const { shown, kept } = display.complete(shownUpdate(update));
    this.show(shown);
    record?.add(kept);
  }

  /** Chunks of a message are shown as one text: what is not the model's begins a paragraph. */
  #apart(text: string): string {
    return this.#isMidMessage ? `\n\n${text}` : text;
  }
}

function endsMidMessage(update: SessionUpdate): boolean {
  if (update.sessionUpdate !== "agent_message_chunk") return false;
  return update.content.type === "text" && !update.content.text.endsWith("\n\n");
}
