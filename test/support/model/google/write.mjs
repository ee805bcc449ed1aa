// A turn as `POST /v1/models/<model>:generateContent` answers it.

/** @import { Answer, Frame, Json } from "../api.d.mts" */

import { isObject } from "../json.mjs";
import { pieces } from "../pieces.mjs";

const FINISH = { stop: "STOP", tools: "STOP", length: "MAX_TOKENS", filter: "SAFETY" };

/**
 * @param {Answer} answer
 * @returns {Json}
 */
export function whole(answer) {
  const { thinking, text, finish } = answer;
  const parts = [
    ...(thinking === "" ? [] : [thought(thinking)]),
    ...(text === "" ? [] : [{ text }]),
    ...calls(answer),
  ];
  return response(answer, parts, FINISH[finish]);
}

/**
 * Calls come in one piece each, and the end with the last of them.
 * @param {Answer} answer
 * @returns {Frame[]}
 */
export function frames(answer) {
  const parts = [
    ...pieces(answer.thinking).map(thought),
    ...pieces(answer.text).map((text) => ({ text })),
    ...calls(answer),
  ];
  return [
    ...parts.map((part) => ({ data: response(answer, [part]) })),
    { data: response(answer, [{ text: "" }], FINISH[answer.finish]) },
  ];
}

/**
 * @param {Answer} answer
 * @param {Json[]} parts
 * @param {string} [finishReason]
 * @returns {Json}
 */
function response({ serial, model, usage }, parts, finishReason) {
  const { input, output, cached, reasoning } = usage;
  return {
    candidates: [
      {
        content: { parts, role: "model" },
        index: 0,
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      cachedContentTokenCount: cached,
      totalTokenCount: input + output,
    },
    modelVersion: model,
    responseId: `response_${serial}`,
  };
}

/** @param {string} text */
function thought(text) {
  return { text, thought: true };
}

/** @param {Answer} answer */
function calls({ serial, toolCalls }) {
  return toolCalls.map(({ id, name, arguments: text }, index) => ({
    functionCall: { id, name, args: parsed(text) },
    // Signed is the first of those that are made together.
    ...(index === 0 ? { thoughtSignature: signature(serial) } : {}),
  }));
}

/** @param {string} serial */
function signature(serial) {
  return Buffer.from(`signature ${serial}`).toString("base64");
}

/**
 * Arguments are an object on this wire: what is none cannot be said.
 * @param {string} text
 */
function parsed(text) {
  const value = JSON.parse(text);
  return isObject(value) ? value : {};
}
