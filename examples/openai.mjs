// A board behind OpenAI's responses API and, further down, its chat API. Run it after `npm ci`:
//   node examples/openai.mjs
// The model is a local script; remove `baseURL` and name a real model to use that instead.
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { openBoard } from "plugboard";
import { toOpenAiTools } from "plugboard/openai";
import { startModel } from "../test/support/model/start.mjs";

const turns = [
  {
    text: "Let me see.",
    toolCalls: [
      { name: "greet", arguments: { name: "world" } },
      { name: "mcp__demo__convert_time", arguments: { time: "9:00", from: "Berlin", to: "Tokyo" } },
      { name: "mcp__demo__current_time", arguments: { zone: "Atlantis" } },
    ],
  },
  { text: "That is in the afternoon in Tokyo, and Atlantis has no time." },
];
const model = await startModel({ turns: [...turns, ...turns] });

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

const question = { role: "user", content: "Say hello, and what is 9:00 in Berlin in Tokyo?" };

async function respond(client) {
  const adapter = toOpenAiTools(board, { api: "responses", strict: true });
  const input = [question];
  for (;;) {
    const response = await client.responses.create({
      model: "scripted",
      input,
      tools: adapter.tools,
    });
    const outputs = await adapter.executeAll(response);
    input.push(...response.output, ...outputs);
    if (outputs.length === 0) return input;
  }
}

async function chat(client) {
  const adapter = toOpenAiTools(board, { api: "chat" });
  const messages = [question];
  for (;;) {
    const completion = await client.chat.completions.create({
      model: "scripted",
      messages,
      tools: adapter.tools,
    });
    const { message } = completion.choices[0];
    messages.push(message, ...(await adapter.executeAll(message)));
    if (!message.tool_calls) return messages;
  }
}

try {
  const client = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: "none" });
  console.log(JSON.stringify(await respond(client), undefined, 2));
  console.log(JSON.stringify(await chat(client), undefined, 2));
} finally {
  await board.close();
  await model.close();
}
