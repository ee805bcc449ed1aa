// The board's tools in an agent of tsagent: to tsagent, the board is one MCP server. See README.md for how to run it. The model
// is a local script.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgent } from "@tsagent/core/runtime";
import { startModel } from "../../test/support/model/start.mjs";

const call = (tool, args) => ({ name: `plugboard_${tool}`, arguments: args });
const script = await startModel({
  turns: [
    {
      toolCalls: [
        call("demo__convert_time", { time: "9:00", from: "Berlin", to: "Tokyo" }),
        call("demo__current_time", { zone: "Atlantis" }),
      ],
    },
    { text: "That is in the afternoon in Tokyo, and Atlantis has no time." },
  ],
});
// tsagent's provider for OpenAI takes its address from the environment.
process.env.OPENAI_BASE_URL = `${script.url}/v1`;

const directory = await mkdtemp(join(tmpdir(), "plugboard-tsagent-"));
const inProject = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

// Your own servers are in your configuration; here it is the demo server.
const demo = { command: process.execPath, args: [inProject("dist/cli/demo/server/server.js")] };
const config = join(directory, "plugboard.json");
await writeFile(config, JSON.stringify({ agents: { defaults: { mcp: { servers: { demo } } } } }));

const quiet = { debug() {}, info() {}, warn() {}, error: console.error };
const agent = await createAgent(join(directory, "agent.yaml"), quiet, {
  settings: { model: "openai:scripted" },
});
try {
  await agent.installProvider("openai", { OPENAI_API_KEY: "any" });
  // With Plugboard installed: command "plugboard", args ["serve"].
  await agent.saveMcpServer({
    name: "plugboard",
    config: {
      type: "stdio",
      command: process.execPath,
      args: [inProject("dist/bin.cjs"), "--config", config, "serve"],
      // An autonomous session leaves out tools that need a permission. The board has rules of its own.
      serverToolDefaults: { include: "always", permissionRequired: false },
    },
  });
  await agent.initialize();

  const session = agent.createChatSession("example", { autonomous: true });
  const { updates } = await session.handleMessage("What is 9:00 in Berlin in Tokyo?");
  for (const { role, content, modelReply } of updates) {
    if (content !== undefined) console.log(`${role}: ${content}`);
    for (const { results = [], error } of modelReply?.turns ?? []) {
      if (error !== undefined) throw new Error(error);
      for (const { type, text, toolCall } of results) {
        console.log(type === "text" ? `${role}: ${text}` : `tool: ${toolCall.output}`);
      }
    }
  }
} finally {
  for (const client of Object.values(await agent.getAllMcpClients())) await client.disconnect();
  await script.close();
  await rm(directory, { recursive: true });
}
