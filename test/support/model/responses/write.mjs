// A turn as `POST /v1/responses` answers it.

/** @import { Answer, Frame, Json } from "../api.d.mts" */

import { toItems } from "./items.mjs";

const INCOMPLETE = {
  stop: null,
  tools: null,
  length: "max_output_tokens",
  filter: "content_filter",
};

/**
 * @param {Answer} answer
 * @returns {Json & { id: string, output: Json[], status: string }}
 */
export function whole(answer) {
  const reason = INCOMPLETE[answer.finish];
  return {
    ...begun(answer),
    status: reason === null ? "completed" : "incomplete",
    incomplete_details: reason === null ? null : { reason },
    output: toItems(answer).map(({ item }) => item),
    usage: toUsage(answer),
  };
}

/**
 * @param {Answer} answer
 * @returns {Frame[]}
 */
export function frames(answer) {
  const response = whole(answer);
  /** @type {Json[]} */
  const events = [
    { type: "response.created", response: begun(answer) },
    { type: "response.in_progress", response: begun(answer) },
    ...toItems(answer).flatMap((made, index) => [
      { type: "response.output_item.added", output_index: index, item: made.begun },
      ...made.events.map((event) => ({ ...event, item_id: made.item.id, output_index: index })),
      { type: "response.output_item.done", output_index: index, item: made.item },
    ]),
    { type: `response.${response.status}`, response },
  ];
  return events.map((event, index) => ({
    event: String(event.type),
    data: { ...event, sequence_number: index },
  }));
}

/**
 * @param {Answer} answer
 * @returns {Json & { id: string }}
 */
function begun({ serial, created, model, body }) {
  return {
    id: `resp_${serial}`,
    object: "response",
    created_at: created,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: "disabled",
    usage: null,
  };
}

/** @param {Answer} answer */
function toUsage({ usage: { input, output, cached, reasoning } }) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
