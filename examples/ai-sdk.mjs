// A board behind the AI SDK, which runs the loop itself. Run it after `npm ci`:
//   node examples/ai-sdk.mjs
// The model is a local script; replace it with any model of the SDK.
import { fileURLToPath } from "node:url";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs } from "ai";
import { openBoard } from "plugboard";
import { toAiSdkTools } from "plugboard/ai-sdk";
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
  const provider = createAnthropic({ baseURL: `${model.url}/v1`, apiKey: "none" });
  const { steps } = await generateText({
    model: provider("scripted"),
    maxOutputTokens: 1000,
    prompt: "Say hello, and what is 9:00 in Berlin in Tokyo?",
    tools: toAiSdkTools(board),
    stopWhen: stepCountIs(5),
  });
  for (const { text, content } of steps) {
    console.log(text);
    for (const part of content) {
      if (part.type === "tool-result") {
        console.log(`${part.toolName}: ${JSON.stringify(part.output.content)}`);
      }
      if (part.type === "tool-error") console.log(`${part.toolName} failed: ${part.error.message}`);
    }
  }
} finally {
  await board.close();
  await model.close();
}
