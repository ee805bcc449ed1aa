// A request to `POST /v1/responses`, read.

/** @import { Conversation, Json } from "../api.d.mts" */
/** @import { Message, OfferedTool } from "../start.mjs" */

import { must } from "../bad-request.mjs";
import { isObject, objects, string, textOf } from "../json.mjs";

/** @type {Record<string, Message["role"]>} */
const ROLES = { system: "system", developer: "system", user: "user", assistant: "assistant" };

/**
 * @param {Json} body
 * @param {Json[]} items what its `input` stands for
 * @returns {Conversation}
 */
export function read(body, items) {
  must(items.length > 0, "input: there is none");
  const instructions = string(body.instructions);
  return {
    messages: [
      ...(instructions === ""
        ? []
        : [/** @type {Message} */ ({ role: "system", text: instructions, toolCalls: [] })]),
      ...items.flatMap(readItem),
    ],
    tools: objects(body.tools).flatMap(readTool),
    results: items
      .filter(({ type }) => type === "function_call_output")
      .map(({ output }) => ({ content: output, isError: false })),
  };
}

/**
 * @param {Json} item
 * @param {number} index
 * @returns {Message[]}
 */
function readItem(item, index) {
  switch (item.type ?? "message") {
    case "message": {
      const role = ROLES[string(item.role)];
      must(role, `input[${index}]: the role '${string(item.role)}' is unknown`);
      return [{ role, text: textOf(item.content), toolCalls: [] }];
    }
    case "function_call": {
      const call = {
        id: string(item.call_id),
        name: fullName(item),
        arguments: string(item.arguments),
      };
      return [{ role: "assistant", text: "", toolCalls: [call] }];
    }
    case "function_call_output":
      return [
        {
          role: "tool",
          text: textOf(item.output),
          toolCalls: [],
          toolCallId: string(item.call_id),
        },
      ];
    default:
      // Thoughts, for one: nobody's words.
      return [];
  }
}

/**
 * Names in a namespace are unique there alone.
 * @param {Json} named
 */
function fullName({ namespace, name }) {
  return namespace === undefined ? string(name) : `${string(namespace)}__${string(name)}`;
}

/**
 * @param {Json} tool
 * @returns {OfferedTool[]}
 */
function readTool(tool) {
  const { type, name, description, parameters } = tool;
  if (type === "namespace") {
    return objects(tool.tools)
      .map((each) => ({ ...each, name: fullName({ namespace: name, name: each.name }) }))
      .flatMap(readTool);
  }
  if (type !== "function") return [];
  const schema = isObject(parameters) ? parameters : { type: "object", properties: {} };
  return [{ name: string(name), description: string(description), schema }];
}
