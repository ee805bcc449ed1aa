// A request to `POST /v1/chat/completions`, read.

/** @import { Conversation, Json } from "../api.d.mts" */
/** @import { Message, OfferedTool } from "../start.mjs" */

import { must } from "../bad-request.mjs";
import { isObject, objects, string, textOf } from "../json.mjs";

/** @type {Record<string, Message["role"]>} */
const ROLES = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
};

/**
 * @param {Json} body
 * @returns {Conversation}
 */
export function read(body) {
  must(Array.isArray(body.messages) && body.messages.length > 0, "messages: there are none");
  const messages = objects(body.messages);
  return {
    messages: messages.map(readMessage),
    tools: objects(body.tools).flatMap(readTool),
    results: messages
      .filter(({ role }) => role === "tool")
      .map(({ content }) => ({ content, isError: false })),
  };
}

/**
 * @param {Json} message
 * @param {number} index
 * @returns {Message}
 */
function readMessage(message, index) {
  const role = ROLES[string(message.role)];
  must(role, `messages[${index}]: the role '${string(message.role)}' is unknown`);
  /** @type {Message} */
  const made = {
    role,
    text: textOf(message.content),
    toolCalls: objects(message.tool_calls).map((call) => {
      const called = isObject(call.function) ? call.function : {};
      return {
        id: string(call.id),
        name: string(called.name),
        arguments: string(called.arguments),
      };
    }),
  };
  if (role === "tool") made.toolCallId = string(message.tool_call_id);
  return made;
}

/**
 * @param {Json} tool
 * @returns {OfferedTool[]}
 */
function readTool(tool) {
  if (!isObject(tool.function)) return [];
  const { name, description, parameters } = tool.function;
  // A function without parameters takes none.
  const schema = isObject(parameters) ? parameters : { type: "object", properties: {} };
  return [{ name: string(name), description: string(description), schema }];
}
