// Refuses what every provider refuses: tool calls and results that do not pair, tools that cannot be called.

/** @import { Conversation } from "./api.d.mts" */

import { must } from "./bad-request.mjs";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Throws a BadRequest.
 * @param {Conversation} conversation
 * @param {{ ordered: boolean }} api
 */
export function check({ messages, tools }, api) {
  checkTools(tools);
  if (api.ordered) checkInOrder(messages);
  else checkPairs(messages);
}

/** @param {Conversation["tools"]} tools */
function checkTools(tools) {
  const names = new Set();
  for (const [index, { name, schema }] of tools.entries()) {
    must(NAME.test(name), `tools[${index}]: the name '${name}' does not match ${NAME.source}`);
    must(!names.has(name), `tools[${index}]: there are two tools named '${name}'`);
    must(
      schema.type === "object",
      `tools[${index}]: the schema of '${name}' is not of type object`,
    );
    names.add(name);
  }
}

/** @param {Conversation["messages"]} messages */
function checkInOrder(messages) {
  /** @type {Set<string>} */
  const open = new Set();
  for (const { role, toolCalls, toolCallId = "" } of messages) {
    if (role === "tool") {
      must(open.delete(toolCallId), noCall(toolCallId));
      continue;
    }
    must(open.size === 0, noResult(open));
    for (const { id } of toolCalls) open.add(id);
  }
  must(open.size === 0, noResult(open));
}

/** @param {Conversation["messages"]} messages */
function checkPairs(messages) {
  const calls = new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)));
  const open = new Set(calls);
  for (const { role, toolCallId = "" } of messages) {
    if (role !== "tool") continue;
    must(calls.has(toolCallId), noCall(toolCallId));
    open.delete(toolCallId);
  }
  must(open.size === 0, noResult(open));
}

/** @param {string} id */
function noCall(id) {
  return `there is a result for the tool call '${id}', which was not made`;
}

/** @param {Set<string>} ids */
function noResult(ids) {
  return `there is no result for the tool calls ${[...ids].join(", ")}`;
}
