// A board behind Anthropic's messages API. Run it after `npm ci`:
//   node examples/anthropic.mjs
// The model is a local script; remove `baseURL` and name a real model to use that instead.
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import { openBoard } from "plugboard";
import { toAnthropicTools } from "plugboard/anthropic";
import { startModel } from "../test/support/model/start.mjs";

const model = await startModel({
  turns: [
    {
      text: "Let me see.",
      toolCalls: [
        { name: "greet", arguments: { name: "world" } },
        {
          name: "mcp__demo__convert_time",
          arguments: { time: "9:00", from: "Berlin", to: "Tokyo" },
        },
        { name: "mcp__demo__current_time", arguments: { zone: "Atlantis" } },
      ],
    },
    { text: "That is in the afternoon in Tokyo, and Atlantis has no time." },
  ],
});

const demo = fileURLToPath(new URL("../dist/cli/demo/server/server.js", import.meta.url));
const board = await openBoard(
  { servers: { demo: { command: process.execPath, args: [demo] } } },
  {
    native: [
      {
        name: "greet",
        description: "Greets somebody by name",
        parameters: { type: "object", properties: { name: { type: "string" } } },
        execute: (_id, { name }) => ({
          content: [{ type: "text", text: `Hello, ${String(name)}!` }],
        }),
      },
    ],
  },
);

try {
  const client = new Anthropic({ baseURL: model.url, apiKey: "none" });
  const adapter = toAnthropicTools(board);
  const messages = [{ role: "user", content: "Say hello, and what is 9:00 in Berlin in Tokyo?" }];
  for (;;) {
    const message = await client.messages.create({
      model: "scripted",
      max_tokens: 1000,
      messages,
      tools: adapter.tools,
    });
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason !== "tool_use") break;
    messages.push({ role: "user", content: await adapter.executeAll(message) });
  }
  console.log(JSON.stringify(messages, undefined, 2));
} finally {
  await board.close();
  await model.close();
}
