// A turn as `POST /v1/chat/completions` answers it.

/** @import { Answer, Frame, Json } from "../api.d.mts" */

import { isObject } from "../json.mjs";
import { pieces } from "../pieces.mjs";

const FINISH = { stop: "stop", tools: "tool_calls", length: "length", filter: "content_filter" };

/**
 * @param {Answer} answer
 * @returns {Json}
 */
export function whole(answer) {
  const { text, thinking, toolCalls, finish } = answer;
  /** @type {Json} */
  const message = {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    annotations: [],
  };
  if (thinking !== "") message.reasoning_content = thinking;
  if (toolCalls.length > 0) message.tool_calls = toolCalls.map(toCall);
  return {
    ...head(answer, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[finish] }],
    usage: toUsage(answer),
  };
}

/**
 * @param {Answer} answer
 * @returns {Frame[]}
 */
export function frames(answer) {
  const { text, thinking, toolCalls, finish, body } = answer;
  const withUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  /** @param {Json[]} choices @param {Json | null} usage */
  const frame = (choices, usage = null) => ({
    data: {
      ...head(answer, "chat.completion.chunk"),
      choices,
      ...(withUsage ? { usage } : {}),
    },
  });
  /** @param {Json} delta @param {string | null} finished */
  const choice = (delta, finished = null) =>
    frame([{ index: 0, delta, logprobs: null, finish_reason: finished }]);

  return [
    choice({ role: "assistant", content: "", refusal: null }),
    ...pieces(thinking).map((piece) => choice({ reasoning_content: piece })),
    ...pieces(text).map((piece) => choice({ content: piece })),
    ...toolCalls.flatMap((call, index) => [
      choice({ tool_calls: [{ index, ...toCall({ ...call, arguments: "" }) }] }),
      ...pieces(call.arguments).map((piece) =>
        choice({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    choice({}, FINISH[finish]),
    ...(withUsage ? [frame([], toUsage(answer))] : []),
    { data: "[DONE]" },
  ];
}

/**
 * @param {Answer} answer
 * @param {string} object
 */
function head({ serial, created, model }, object) {
  return { id: `chatcmpl-${serial}`, object, created, model, system_fingerprint: null };
}

/** @param {Answer["toolCalls"][number]} call */
function toCall({ id, name, arguments: text }) {
  return { id, type: "function", function: { name, arguments: text } };
}

/** @param {Answer} answer */
function toUsage({ usage: { input, output, cached, reasoning } }) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}
