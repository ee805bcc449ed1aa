// A turn as `POST /v1/messages` answers it.

/** @import { Answer, Frame, Json } from "../api.d.mts" */

import { pieces } from "../pieces.mjs";

const FINISH = { stop: "end_turn", tools: "tool_use", length: "max_tokens", filter: "refusal" };

/**
 * One block of content: how it begins, what is added to it, and what it is in the end.
 * @typedef {{ start: Json, deltas: Json[], whole: Json }} Block
 */

/**
 * @param {Answer} answer
 * @returns {Json}
 */
export function whole(answer) {
  return {
    ...head(answer),
    content: blocks(answer).map((block) => block.whole),
    stop_reason: FINISH[answer.finish],
    usage: toUsage(answer),
  };
}

/**
 * @param {Answer} answer
 * @returns {Frame[]}
 */
export function frames(answer) {
  const usage = toUsage(answer);
  return [
    frame("message_start", { message: { ...head(answer), usage: { ...usage, output_tokens: 1 } } }),
    frame("ping", {}),
    ...blocks(answer).flatMap(({ start, deltas }, index) => [
      frame("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
      frame("content_block_stop", { index }),
    ]),
    frame("message_delta", {
      delta: { stop_reason: FINISH[answer.finish], stop_sequence: null },
      usage,
    }),
    frame("message_stop", {}),
  ];
}

/**
 * @param {string} type
 * @param {Json} rest
 * @returns {Frame}
 */
function frame(type, rest) {
  return { event: type, data: { type, ...rest } };
}

/** @param {Answer} answer */
function head({ serial, model }) {
  return {
    id: `msg_${serial}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

/**
 * @param {Answer} answer
 * @returns {Block[]}
 */
function blocks({ serial, thinking, text, toolCalls }) {
  /** @type {Block[]} */
  const made = [];
  if (thinking !== "") {
    const signature = Buffer.from(`signature ${serial}`).toString("base64");
    made.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...pieces(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
      whole: { type: "thinking", thinking, signature },
    });
  }
  if (text !== "") {
    made.push({
      start: { type: "text", text: "" },
      deltas: pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
      whole: { type: "text", text },
    });
  }
  for (const { id, name, arguments: input } of toolCalls) {
    made.push({
      start: { type: "tool_use", id, name, input: {} },
      deltas: ["", ...pieces(input)].map((piece) => ({
        type: "input_json_delta",
        partial_json: piece,
      })),
      whole: { type: "tool_use", id, name, input: parsed(input) },
    });
  }
  return made;
}

/** @param {string} input */
function parsed(input) {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** @param {Answer} answer */
function toUsage({ usage: { input, output, cached } }) {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}
