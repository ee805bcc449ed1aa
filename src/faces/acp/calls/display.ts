// What an editor shows of a session's calls beside what they answer: files, diffs and terminals.

import type { AsyncLocalStorage } from "node:async_hooks";
import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import { contains } from "../../../util/contains.ts";
import { textContent } from "../wire/content.ts";
import { splitDiffs } from "./diff.ts";
import { isOver } from "./tool-calls.ts";

export interface Shown {
  content?: readonly ToolCallContent[];
  locations?: readonly ToolCallLocation[];
}

export interface CallDisplayOptions {
  /** Absolute: where the paths of diffs start. */
  cwd: string;
  /** Absolute. A diff of a file outside of them is text: a server must not pass for who changed it. */
  roots: readonly string[];
  /** Holds the id of a call for as long as it runs. */
  calling: AsyncLocalStorage<string>;
  /** To the client, and not kept. */
  send: (update: SessionUpdate) => void;
}

export class CallDisplay {
  readonly #options: CallDisplayOptions;
  readonly #shown = new Map<string, Required<Shown>>();

  constructor(options: CallDisplayOptions) {
    this.#options = options;
  }

  /** With the call that the code is part of: at once, and until it ends. */
  show({ content = [], locations = [] }: Shown): void {
    const { calling, send } = this.#options;
    const toolCallId = calling.getStore();
    if (toolCallId === undefined) return;
    this.#shown.set(toolCallId, { content, locations });
    send({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "in_progress",
      content: [...content],
      locations: [...locations],
    });
  }

  /** An update with all there is to it. Nothing that outlasts a terminal speaks of it. */
  complete(update: SessionUpdate): { shown: SessionUpdate; kept: SessionUpdate } {
    if (update.sessionUpdate !== "tool_call_update") return { shown: update, kept: update };
    const { toolCallId, status, content: said, ...rest } = update;
    const own = this.#shown.get(toolCallId);
    const hasEnded = isOver(status);
    if (hasEnded) this.#shown.delete(toolCallId);
    if (own === undefined) {
      if (!hasEnded || !said) return { shown: update, kept: update };
      const content = said.flatMap((each) => this.#withDiffs(each));
      return { shown: { ...update, content }, kept: { ...update, content } };
    }
    const about = { ...rest, toolCallId, status, locations: [...own.locations] };
    const lasting = own.content.filter(({ type }) => type !== "terminal");
    const kept = { ...about, content: [...lasting, ...(said ?? [])] };
    if (!hasEnded) return { shown: { ...about, content: [...own.content, ...(said ?? [])] }, kept };
    // What an update leaves out stays: the terminal, which has shown all that the result repeats. Its id is
    // no longer good for anything.
    const hasShownAll = status === "completed" && lasting.length < own.content.length;
    return { shown: hasShownAll ? about : kept, kept };
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
