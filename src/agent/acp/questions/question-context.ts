// What a server's question needs to know of the session whose call caused it, to reach the user at the editor.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { AcpClient } from "../wire/client.ts";

export interface QuestionContext {
  sessionId: string;
  client: Pick<AcpClient, "capabilities" | "request" | "completeElicitation">;
  /** Whether the session calls tools without asking. */
  isAutomatic: () => boolean;
  /**
   * Aborts when the prompt is cancelled. Undefined between prompts: then nobody expects a question, and the editor
   * may not even know the session yet.
   */
  promptSignal: () => AbortSignal | undefined;
  /** Shows a notice without keeping it in the history. */
  notify: (text: string) => void;
  /** Shows an update and keeps it in the history. */
  emit: (update: SessionUpdate) => void;
}

/** A server may ask in a loop. */
const MAX_NOTICES = 10;

/** Shows each notice once per prompt. */
export function notifyOnce({
  promptSignal,
  notify,
}: Pick<QuestionContext, "promptSignal" | "notify">): (text: string) => void {
  const noticesOf = new WeakMap<AbortSignal, Set<string>>();
  return (text) => {
    const prompt = promptSignal();
    if (prompt === undefined) return;
    const notices = noticesOf.get(prompt) ?? new Set();
    noticesOf.set(prompt, notices);
    if (notices.has(text) || notices.size >= MAX_NOTICES) return;
    notices.add(text);
    notify(text);
  };
}
