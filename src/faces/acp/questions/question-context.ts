// How the person at the editor is reached while a prompt is answered: what a server's questions need to know
// of the session whose call caused them.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Mode } from "../session/mode.ts";
import type { Peer } from "../wire/peer.ts";

export interface Asking {
  sessionId: string;
  peer: Peer;
  mode: () => Mode;
  /**
   * Aborts when the prompt is cancelled. Undefined between prompts, when nobody expects a question; the
   * editor may not even know the session yet.
   */
  turn: () => AbortSignal | undefined;
  /** The call that the code is part of, as the editor knows it. */
  toolCallId: () => string | undefined;
  /** About the moment: not kept. */
  tell: (text: string) => void;
  /** Shows an update, and keeps it. */
  emit: (update: SessionUpdate) => void;
}

/** A server may ask in a loop. */
const MOST_TOLD = 10;

/** Tells each thing once in a prompt. */
export function tellOnce(
  turn: Asking["turn"],
  tell: (text: string) => void,
): (text: string) => void {
  const told = new WeakMap<AbortSignal, Set<string>>();
  return (text) => {
    const now = turn();
    if (now === undefined) return;
    const before = told.get(now) ?? new Set();
    told.set(now, before);
    if (before.has(text) || before.size >= MOST_TOLD) return;
    before.add(text);
    tell(text);
  };
}
