// Many tools, a small prompt: the model gets a search, and finds the tool it needs. Run it after `npm ci`:
//   node examples/search.mjs
// The model is a local script; replace it with any model of the AI SDK.
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs } from "ai";
import { openBoard } from "plugboard";
import { toAiSdkTools } from "plugboard/ai-sdk";
import { startModel } from "../test/support/model/start.mjs";

const official = (name) => ({
  command: "npx",
  args: ["-y", `@modelcontextprotocol/server-${name}`],
});
const files = official("filesystem");
const board = await openBoard({
  servers: {
    files: { ...files, args: [...files.args, "."] },
    memory: official("memory"),
    everything: official("everything"),
  },
  // "auto" searches from 50 tools on.
  toolSearch: "on",
});

const model = await startModel({
  turns: [
    { toolCalls: [{ name: "search_tools", arguments: { queries: ["sum of two numbers"] } }] },
    { toolCalls: [{ name: "mcp__everything__get-sum", arguments: { a: 2, b: 40 } }] },
    { text: "It is 42." },
  ],
});

try {
  const tools = toAiSdkTools(board);
  console.log(`the board has ${board.tools().length} tools`);

  // You can search, too: offline, in less than a millisecond.
  const [best] = await board.search("read a text file");
  console.log(`read a text file: ${best.tool.name}`);

  const provider = createAnthropic({ baseURL: `${model.url}/v1`, apiKey: "none" });
  const { text, steps } = await generateText({
    model: provider("scripted"),
    maxOutputTokens: 1000,
    prompt: "How much is 2 and 40?",
    tools,
    stopWhen: stepCountIs(5),
    // What the model has found is among its tools from the next step on.
    prepareStep: ({ stepNumber }) => {
      console.log(`step ${stepNumber + 1}: the prompt has ${Object.keys(tools).length} tools`);
    },
  });
  for (const { toolName, input } of steps.flatMap((step) => step.toolCalls)) {
    console.log(`the model calls ${toolName} ${JSON.stringify(input)}`);
  }
  console.log(text);
} finally {
  await board.close();
  await model.close();
}
