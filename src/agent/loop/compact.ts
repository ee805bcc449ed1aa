// Makes a conversation smaller: removes the oldest tool results first, then the oldest turns, and finally cuts the
// newest results. A note replaces whatever was removed.

import type { ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { byteSize, truncate } from "../../util/text.ts";

export interface Conversation {
  messages: ModelMessage[];
  /** Index of the running turn's first message. The prompt there is never left out. */
  turnStart: number;
}

export interface Compacted extends Conversation {
  /** Results that were replaced or cut. */
  results: number;
  /** Messages of earlier turns that were left out. */
  dropped: number;
}

type ResultOutput = ToolResultPart["output"];

/** A shorter result would hardly shrink by being replaced with a note. */
const SHORTEST = 400;
/** Kept from the end of a cut result, so that the marker which closes untrusted content stays. */
const TAIL = 600;
/** What an image or a page costs, whatever its size in bytes. */
const MEDIA_SIZE = 6000;

const LEFT_OUT: ModelMessage = {
  role: "user",
  content: "[The beginning of this conversation has been left out to make room.]",
};

/** Down to `budget` characters, or as near to it as possible. Does not modify its argument. */
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

const sizes = new WeakMap<object, number>();

/** Characters, for estimating tokens. Messages never change once they are made, so each is measured once. */
export function sizeOf(value: object): number {
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let media = 0;
  const text = JSON.stringify(value, function (this: unknown, key: string, each: unknown) {
    if (!isMediaData(this, key, each)) return each;
    media += 1;
    return "";
  });
  const size = text.length + media * MEDIA_SIZE;
  sizes.set(value, size);
  return size;
}

/** The AI SDK puts the media type beside the bytes. */
function isMediaData(holder: unknown, key: string, value: unknown): boolean {
  if (typeof value !== "string" || (key !== "data" && key !== "image")) return false;
  return typeof holder === "object" && holder !== null && "mediaType" in holder;
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

/** A turn starts with a user message and ends before the next one. */
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
  // A note from an earlier compaction is not one of the messages, and the new note replaces it.
  const dropped = end - (messages[0]?.content === LEFT_OUT.content ? 1 : 0);
  if (dropped <= 0) return;
  state.messages = [LEFT_OUT, ...messages.slice(end)];
  state.turnStart = state.turnStart - end + 1;
  state.dropped = dropped;
}

/** Cuts each of them by the same share. */
function cutNewResults(state: Compacted, budget: number): void {
  const excess = totalSize(state.messages) - budget;
  const newest = newestResults(state);
  const message = state.messages[newest];
  if (excess <= 0 || message?.role !== "tool") return;
  const size = sizeOf(message);
  const share = Math.max(0, size - excess) / size;
  state.messages[newest] = mapResults(message, (output) => {
    const text = textOf(output);
    const length = Math.max(SHORTEST + TAIL, Math.floor(text.length * share));
    if (text.length <= length && output.type !== "content") return output;
    state.results += 1;
    return cut(output, text, length);
  });
}

/** Index of the results that the model has not seen yet, or -1: only those of the running turn. */
function newestResults({ messages, turnStart }: Conversation): number {
  const newest = messages.findLastIndex(({ role }) => role === "tool");
  return newest < turnStart ? -1 : newest;
}

/** Of a result that was cut: its beginning, and how many bytes are gone. A second cut tells of both. */
const cuts = new WeakMap<ResultOutput, { head: string; bytes: number }>();

function cut(output: ResultOutput, text: string, length: number): ResultOutput {
  const type = output.type === "error-text" ? "error-text" : "text";
  if (text.length <= length) return { type, value: text };
  const tail = text.slice(-TAIL);
  const { head: before, bytes: gone } = cuts.get(output) ?? {
    head: text.slice(0, -TAIL),
    bytes: 0,
  };
  const shown = truncate(before, length - TAIL);
  const head = shown === before ? before : shown.slice(0, -1);
  const bytes = gone + Buffer.byteLength(before.slice(head.length));
  const note = `\n[… ${byteSize(bytes)} have been left out to make room …]\n`;
  const made: ResultOutput = { type, value: `${head}…${note}${tail}` };
  cuts.set(made, { head, bytes });
  return made;
}

function textOf(output: ResultOutput): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  if (output.type !== "content") return JSON.stringify(output);
  return output.value
    .map((part) => (part.type === "text" ? part.text : `[${part.type}, left out to make room]`))
    .join("\n");
}

/** Changes the result of each call in the message. */
export function mapResults(
  message: ToolModelMessage,
  change: (output: ResultOutput, name: string) => ResultOutput,
): ToolModelMessage {
  const content = message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: change(part.output, part.toolName) } : part,
  );
  return { ...message, content };
}
