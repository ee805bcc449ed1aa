// What the editor shows with a session's calls besides their answers: file locations, diffs and terminals.

import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import { contains } from "../../../util/contains.ts";
import { hasEnded, textContent } from "../wire/content.ts";
import { splitDiffs } from "./diff.ts";

export interface CallAttachments {
  content?: readonly ToolCallContent[];
  locations?: readonly ToolCallLocation[];
}

export interface CallDisplayOptions {
  /** Absolute. Relative paths of diffs start here. */
  cwd: string;
  /** Absolute. A diff of a file outside stays text: a server must not appear to have changed such a file. */
  roots: readonly string[];
  /** Sends an update to the client without keeping it in the history. */
  send: (update: SessionUpdate) => void;
}

export class CallDisplay {
  readonly #options: CallDisplayOptions;
  readonly #attachments = new Map<string, Required<CallAttachments>>();

  constructor(options: CallDisplayOptions) {
    this.#options = options;
  }

  /** Shows the attachments with a running call, from now until it ends. */
  attach(toolCallId: string, { content = [], locations = [] }: CallAttachments): void {
    this.#attachments.set(toolCallId, { content, locations });
    this.#options.send({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "in_progress",
      content: [...content],
      locations: [...locations],
    });
  }

  /**
   * Adds a call's attachments to its update. The update that is kept has no terminal in it: terminals are gone by the
   * time the session is loaded again.
   */
  complete(update: SessionUpdate): { shown: SessionUpdate; kept: SessionUpdate } {
    if (update.sessionUpdate !== "tool_call_update") return { shown: update, kept: update };
    const { toolCallId, status, content: said, ...rest } = update;
    const attached = this.#attachments.get(toolCallId);
    const isOver = hasEnded(status);
    if (isOver) this.#attachments.delete(toolCallId);
    if (attached === undefined) {
      if (!isOver || !said) return { shown: update, kept: update };
      const content = said.flatMap((each) => this.#withDiffs(each));
      return { shown: { ...update, content }, kept: { ...update, content } };
    }
    const about = { ...rest, toolCallId, status, locations: [...attached.locations] };
    const lasting = attached.content.filter(({ type }) => type !== "terminal");
    const kept = { ...about, content: [...lasting, ...(said ?? [])] };
    if (!isOver)
      return { shown: { ...about, content: [...attached.content, ...(said ?? [])] }, kept };
    // An update without content leaves the terminal in place. It has shown all that the result repeats, and its id
    // can no longer be sent.
    const isInTerminal = status === "completed" && lasting.length < attached.content.length;
    return { shown: isInTerminal ? about : kept, kept };
  }

  #withDiffs(item: ToolCallContent): ToolCallContent[] {
    if (item.type !== "content" || item.content.type !== "text") return [item];
    const parts = splitDiffs(item.content.text);
    if (parts === undefined) return [item];
    const { cwd, roots } = this.#options;
    const shown = parts.map((part): ToolCallContent => {
      if (part.kind === "text") return textContent(part.text);
      const { path, oldText, newText } = part;
      return { type: "diff", path: resolve(cwd, path), oldText, newText };
    });
    const isInside = (path: string): boolean => roots.some((root) => contains(root, path));
    return shown.every((each) => each.type !== "diff" || isInside(each.path)) ? shown : [item];
  }
}
