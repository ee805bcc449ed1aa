// A request to `POST /v1/messages`, read.

/** @import { Conversation, Json } from "../api.d.mts" */
/** @import { Message, OfferedTool } from "../start.mjs" */

import { must } from "../bad-request.mjs";
import { isObject, objects, string, textOf } from "../json.mjs";

/**
 * @param {Json} body
 * @returns {Conversation}
 */
export function read(body) {
  must(typeof body.max_tokens === "number", "max_tokens: Field required");
  must(Array.isArray(body.messages) && body.messages.length > 0, "messages: there are none");
  const messages = objects(body.messages);
  const system = textOf(body.system);
  return {
    messages: [
      ...(system === ""
        ? []
        : [/** @type {Message} */ ({ role: "system", text: system, toolCalls: [] })]),
      ...messages.flatMap(readMessage),
    ],
    tools: objects(body.tools).flatMap(readTool),
    results: messages
      .flatMap(({ content }) => ofType(content, "tool_result"))
      .map(({ content, is_error: isError }) => ({ content, isError: isError === true })),
  };
}

/**
 * Results come inside a user's message: each is a message of its own here.
 * @param {Json} message
 * @param {number} index
 * @returns {Message[]}
 */
function readMessage({ role, content }, index) {
  // The provider takes instructions in the course of a conversation too, but not as its beginning.
  const isKnown = role === "user" || role === "assistant" || (role === "system" && index > 0);
  must(isKnown, `messages.${index}.role: 'user' or 'assistant'`);
  const text = typeof content === "string" ? content : textOf(ofType(content, "text"));
  const results = ofType(content, "tool_result").map((result) => ({
    role: /** @type {const} */ ("tool"),
    text: textOf(result.content),
    toolCalls: [],
    toolCallId: string(result.tool_use_id),
  }));
  if (results.length > 0 && text === "") return results;
  const toolCalls = ofType(content, "tool_use").map(({ id, name, input }) => ({
    id: string(id),
    name: string(name),
    arguments: JSON.stringify(input),
  }));
  return [...results, { role, text, toolCalls }];
}

/**
 * @param {unknown} content
 * @param {string} type
 */
function ofType(content, type) {
  return objects(content).filter((block) => block.type === type);
}

/**
 * @param {Json} tool
 * @returns {OfferedTool[]}
 */
function readTool({ name, description, input_schema: schema }) {
  // Those that the provider runs itself have no schema.
  if (!isObject(schema)) return [];
  return [{ name: string(name), description: string(description), schema }];
}
