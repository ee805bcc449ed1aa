// A board behind LangChain's agent. Run it after `npm ci`:
//   node examples/langchain.mjs
// The model is a local script; remove `baseURL` and name a real model to use that instead.
import { fileURLToPath } from "node:url";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { openBoard } from "plugboard";
import { toLangChainTools } from "plugboard/langchain";
import { startModel } from "../test/support/model/start.mjs";

const script = await startModel({
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
  const agent = createAgent({
    model: new ChatOpenAI({
      model: "scripted",
      apiKey: "none",
      configuration: { baseURL: `${script.url}/v1` },
    }),
    tools: toLangChainTools(board, { DynamicStructuredTool, ToolMessage }),
  });
  const { messages } = await agent.invoke({
    messages: [new HumanMessage("Say hello, and what is 9:00 in Berlin in Tokyo?")],
  });
  for (const message of messages) console.log(`${message.type}: ${message.text}`);
} finally {
  await board.close();
  await script.close();
}
