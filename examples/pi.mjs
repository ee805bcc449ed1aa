// A board behind pi's agent loop. Run it after `npm ci`:
//   node examples/pi.mjs
// The model is a local script; replace it with a model from pi-ai's `getModel`.
import { fileURLToPath } from "node:url";
import { Agent } from "@mariozechner/pi-agent-core";
import { openBoard } from "plugboard";
import { toPiTools } from "plugboard/pi";
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
  const agent = new Agent({
    initialState: {
      systemPrompt: "Be brief.",
      model: {
        id: "scripted",
        name: "scripted",
        api: "anthropic-messages",
        provider: "scripted",
        baseUrl: script.url,
        reasoning: false,
        input: ["text", "image"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 100_000,
        maxTokens: 1000,
      },
      tools: toPiTools(board),
    },
    getApiKey: () => "none",
  });
  // Servers may change their tools while the agent runs.
  board.on("tools", () => {
    agent.state.tools = toPiTools(board);
  });
  await agent.prompt("Say hello, and what is 9:00 in Berlin in Tokyo?");
  console.log(JSON.stringify(agent.state.messages, undefined, 2));
} finally {
  await board.close();
  await script.close();
}
