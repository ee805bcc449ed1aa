// A request to `POST /v1/models/<model>:generateContent`, read.

/** @import { Conversation, Json } from "../api.d.mts" */
/** @import { Message, OfferedTool } from "../start.mjs" */

import { must } from "../bad-request.mjs";
import { isObject, objects, string, textOf } from "../json.mjs";

/**
 * @param {Json} body
 * @returns {Conversation}
 */
export function read(body) {
  must(Array.isArray(body.contents) && body.contents.length > 0, "contents: there are none");
  const contents = objects(body.contents);
  const system = isObject(body.systemInstruction) ? textOf(body.systemInstruction.parts) : "";
  return {
    messages: [
      ...(system === ""
        ? []
        : [/** @type {Message} */ ({ role: "system", text: system, toolCalls: [] })]),
      ...contents.flatMap(readContent),
    ],
    tools: objects(body.tools).flatMap((tool) => objects(tool.functionDeclarations).map(readTool)),
    results: contents
      .flatMap(({ parts }) => inside(parts, "functionResponse"))
      .map(({ response }) => ({ content: response, isError: false })),
  };
}

/**
 * Results come inside a user's content: each is a message of its own here.
 * @param {Json} content
 * @param {number} index
 * @returns {Message[]}
 */
function readContent({ role, parts }, index) {
  must(role === "user" || role === "model", `contents[${index}].role: 'user' or 'model'`);
  const text = textOf(objects(parts).filter(({ thought }) => thought !== true));
  const results = inside(parts, "functionResponse").map(({ id, response }) => ({
    role: /** @type {const} */ ("tool"),
    text: isObject(response) ? string(response.content ?? response.output) : "",
    toolCalls: [],
    toolCallId: string(id),
  }));
  if (results.length > 0 && text === "") return results;
  const toolCalls = inside(parts, "functionCall").map(({ id, name, args }) => ({
    id: string(id),
    name: string(name),
    arguments: JSON.stringify(args),
  }));
  return [...results, { role: role === "user" ? "user" : "assistant", text, toolCalls }];
}

/**
 * @param {unknown} parts
 * @param {string} key
 */
function inside(parts, key) {
  return objects(objects(parts).map((part) => part[key]));
}

/**
 * @param {Json} declaration
 * @returns {OfferedTool}
 */
function readTool({ name, description, parameters }) {
  // A function without parameters takes none.
  const schema = isObject(parameters) ? parameters : { type: "object", properties: {} };
  return { name: string(name), description: string(description), schema };
}
