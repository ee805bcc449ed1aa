// The items of a response's output: what each is in the end, and the events that build it up.

/** @import { Answer, Json } from "../api.d.mts" */

import { objects, string } from "../json.mjs";
import { pieces } from "../pieces.mjs";

/**
 * `begun` is the item as it is announced. Events are without what all of an item's events have.
 * @typedef {{ item: Json, begun: Json, events: Json[] }} Item
 */

/**
 * @param {Answer} answer
 * @returns {Item[]}
 */
export function toItems({ serial, thinking, text, toolCalls, finish, body }) {
  const status = finish === "length" || finish === "filter" ? "incomplete" : "completed";
  return [
    ...(thinking === "" ? [] : [reasoning(`rs_${serial}`, thinking, wantsEncrypted(body))]),
    ...(text === "" ? [] : [message(`msg_${serial}`, text, status)]),
    ...toolCalls.map((call, index) =>
      functionCall(`fc_${serial}_${index}`, inNamespace(call, body), status),
    ),
  ];
}

/** @param {Json} body */
function wantsEncrypted({ include }) {
  return Array.isArray(include) && include.includes("reasoning.encrypted_content");
}

/**
 * @param {string} id
 * @param {string} text
 * @param {boolean} encrypted
 * @returns {Item}
 */
function reasoning(id, text, encrypted) {
  const part = { type: "summary_text", text };
  const item = {
    id,
    type: "reasoning",
    summary: [part],
    ...(encrypted ? { encrypted_content: Buffer.from(text).toString("base64") } : {}),
  };
  const place = { summary_index: 0 };
  return {
    item,
    begun: { ...item, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
      ...pieces(text).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...place,
        delta,
      })),
      { type: "response.reasoning_summary_text.done", ...place, text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ],
  };
}

/**
 * @param {string} id
 * @param {string} text
 * @param {string} status
 * @returns {Item}
 */
function message(id, text, status) {
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const item = { id, type: "message", status, role: "assistant", content: [part] };
  const place = { content_index: 0 };
  return {
    item,
    begun: { ...item, status: "in_progress", content: [] },
    events: [
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...pieces(text).map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
    ],
  };
}

/**
 * The reverse of how the request was read.
 * @param {Answer["toolCalls"][number]} call
 * @param {Json} body
 */
function inNamespace(call, { tools }) {
  const names = objects(tools).flatMap(({ type, name }) =>
    type === "namespace" ? [string(name)] : [],
  );
  const namespace = names.find((each) => call.name.startsWith(`${each}__`));
  if (namespace === undefined) return call;
  return { ...call, namespace, name: call.name.slice(namespace.length + 2) };
}

/**
 * @param {string} id
 * @param {Answer["toolCalls"][number] & { namespace?: string }} call
 * @param {string} status
 * @returns {Item}
 */
function functionCall(id, { id: callId, arguments: text, ...named }, status) {
  const { name } = named;
  const item = { id, type: "function_call", status, arguments: text, call_id: callId, ...named };
  return {
    item,
    begun: { ...item, status: "in_progress", arguments: "" },
    events: [
      ...pieces(text).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
      { type: "response.function_call_arguments.done", name, arguments: text },
    ],
  };
}
