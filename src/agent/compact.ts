// Makes a conversation fit: the oldest tool results go first, then the oldest turns, and last the newest
// results are cut. What has gone leaves a note.

import type { ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { byteSize, truncate } from "../util/text.ts";
import { sizeOf } from "./message-size.ts";

export interface Conversation {
  messages: ModelMessage[];
  /** Where the turn that is running begins: what it was asked is never left out. */
  turnStart: number;
}

export interface Compacted extends Conversation {
  /** Results that were replaced or cut. */
  results: number;
  /** Messages of earlier turns that are gone. */
  dropped: number;
}

type Output = ToolResultPart["output"];

/** A shorter result is not worth a note. */
const SHORTEST = 400;
/** Of a cut result: where a frame ends, so that what follows stays outside of it. */
const TAIL = 600;

const LEFT_OUT: ModelMessage = {
  role: "user",
  content: "[The beginning of this conversation has been left out to make room.]",
};

/** Down to `budget` characters, or as near as it gets. Leaves what it is given as it is. */
export function compact({ messages, turnStart }: Conversation, budget: number): Compacted {
  const state: Compacted = { messages: [...messages], turnStart, results: 0, dropped: 0 };
  clearOldResults(state, budget);
  dropOldTurns(state, budget);
  cutNewResults(state, budget);
  return state;
}

export function totalSize(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function clearOldResults(state: Compacted, budget: number): void {
  let excess = totalSize(state.messages) - budget;
  const newest = newestResults(state);
  const end = newest === -1 ? state.messages.length : newest;
  for (let at = 0; at < end && excess > 0; at += 1) {
    const message = state.messages[at];
    if (message?.role !== "tool") continue;
    const before = sizeOf(message);
    const cleared = mapResults(message, (output, name) => {
      const size = sizeOf(output);
      if (size <= SHORTEST) return output;
      state.results += 1;
      return {
        type: "text",
        value: `[The result of ${name}, ${byteSize(size)}, has been left out to make room. Call the tool again if it is needed.]`,
      };
    });
    state.messages[at] = cleared;
    excess -= before - sizeOf(cleared);
  }
}

/** A turn reaches from what a person said to what the next one says. */
function dropOldTurns(state: Compacted, budget: number): void {
  const { messages } = state;
  let excess = totalSize(messages) - budget;
  let end = 0;
  while (end < state.turnStart && excess > 0) {
    do {
      excess -= sizeOf(messages[end] ?? LEFT_OUT);
      end += 1;
    } while (end < state.turnStart && messages[end]?.role !== "user");
  }
  // The note of an earlier time is no message, and gives way to the new one.
  const dropped = end - (messages[0]?.content === LEFT_OUT.content ? 1 : 0);
  if (dropped <= 0) return;
  state.messages = [LEFT_OUT, ...messages.slice(end)];
  state.turnStart = state.turnStart - end + 1;
  state.dropped = dropped;
}

/** Each by the same share. */
function cutNewResults(state: Compacted, budget: number): void {
  const excess = totalSize(state.messages) - budget;
  const newest = newestResults(state);
  const message = state.messages[newest];
  if (excess <= 0 || message?.role !== "tool") return;
  const size = sizeOf(message);
  const share = Math.max(0, size - excess) / size;
  state.messages[newest] = mapResults(message, (output) => {
    const text = textOf(output);
    const room = Math.max(SHORTEST + TAIL, Math.floor(text.length * share));
    if (text.length <= room && output.type !== "content") return output;
    state.results += 1;
    return { type: output.type === "error-text" ? "error-text" : "text", value: cut(text, room) };
  });
}

/** Of this turn: those that the model has not seen yet. */
function newestResults({ messages, turnStart }: Conversation): number {
  const newest = messages.findLastIndex(({ role }) => role === "tool");
  return newest < turnStart ? -1 : newest;
}

function cut(text: string, room: number): string {
  if (text.length <= room) return text;
  const note = `\n[… ${byteSize(text.length - room)} have been left out to make room …]\n`;
  return `${truncate(text, room - TAIL)}${note}${text.slice(-TAIL)}`;
}

function textOf(output: Output): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  if (output.type !== "content") return JSON.stringify(output);
  return output.value
    .map((part) => (part.type === "text" ? part.text : `[${part.type}, left out to make room]`))
    .join("\n");
}

function mapResults(
  message: ToolModelMessage,
  change: (output: Output, name: string) => Output,
): ToolModelMessage {
  const content = message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: change(part.output, part.toolName) } : part,
  );
  return { ...message, content };
}
