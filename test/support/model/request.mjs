// A request's body as the record shows it: the same shape for every API.

/** @import { IncomingHttpHeaders } from "node:http" */
/** @import { Api, Conversation, Json } from "./api.d.mts" */
/** @import { ApiName, ModelRequest, ToolResult } from "./start.mjs" */

import { BadRequest, must } from "./bad-request.mjs";
import { isObject, string } from "./json.mjs";

/**
 * What a request's path says, where that is not in its body.
 * @typedef {{ model: string, stream: boolean }} Named
 */

/**
 * Throws a BadRequest.
 * @param {string} text
 * @param {IncomingHttpHeaders} headers
 * @param {{ name: ApiName, api: Api, named: Named | undefined }} address
 * @returns {{ request: ModelRequest, conversation: Conversation }}
 */
export function toRequest(text, headers, { name, api, named }) {
  const body = parse(text);
  const { model, stream } = named ?? body;
  must(typeof model === "string" && model !== "", "model: there is none");
  const conversation = api.read(body);
  return {
    conversation,
    request: {
      api: name,
      model: string(model),
      stream: stream === true,
      body,
      headers,
      messages: conversation.messages,
      tools: conversation.tools,
      toolResults: toResults(conversation),
      outcome: "pending",
    },
  };
}

/**
 * @param {string} text
 * @returns {Json}
 */
function parse(text) {
  /** @type {unknown} */
  let body;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new BadRequest("the body is not JSON", { cause: error });
  }
  must(isObject(body), "the body is not an object");
  return body;
}

/**
 * @param {Conversation} conversation
 * @returns {ToolResult[]}
 */
function toResults({ messages, results }) {
  const names = new Map(
    messages.flatMap(({ toolCalls }) => toolCalls.map(({ id, name }) => [id, name])),
  );
  return messages
    .filter(({ role }) => role === "tool")
    .map(({ toolCallId = "", text }, index) => ({
      id: toolCallId,
      name: names.get(toolCallId) ?? "",
      text,
      isError: results[index]?.isError ?? false,
      content: results[index]?.content,
    }));
}
