// MCP servers in a clawtools registry. Run it after `npm ci`:
//   node examples/clawtools.mjs
// The registry here has what is used of clawtools' ToolRegistry; `createClawtools().tools` can replace it. The model is a
// local script, which the example asks itself.
import { fileURLToPath } from "node:url";
import { loadMCPServers } from "plugboard/clawtools";
import { startModel } from "../test/support/model/start.mjs";

const script = await startModel({
  turns: [
    {
      toolCalls: [
        { name: "greet", arguments: { name: "world" } },
        { name: "demo__convert_time", arguments: { time: "9:00", from: "Berlin", to: "Tokyo" } },
        { name: "demo__current_time", arguments: { zone: "Atlantis" } },
      ],
    },
    { text: "That is in the afternoon in Tokyo, and Atlantis has no time." },
  ],
});

class ToolRegistry {
  #tools = new Map();
  register(tool) {
    this.#tools.set(tool.name, tool);
  }
  unregister(name) {
    return this.#tools.delete(name);
  }
  resolve(name) {
    return this.#tools.get(name);
  }
  resolveAll() {
    return [...this.#tools.values()];
  }
}

const registry = new ToolRegistry();

registry.register({
  name: "greet",
  description: "Greets somebody by name",
  parameters: { type: "object", properties: { name: { type: "string" } } },
  execute: async (_id, { name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] }),
});

const demo = fileURLToPath(new URL("../dist/cli/demo/server/server.js", import.meta.url));
const provider = await loadMCPServers(
  { servers: { demo: { type: "stdio", command: process.execPath, args: [demo] } } },
  registry,
  { onToolsChanged: (server) => console.log(`${server} has changed its tools`) },
);

try {
  console.log(provider.status());
  const messages = [{ role: "user", content: "Say hello, and what is 9:00 in Berlin in Tokyo?" }];
  for (;;) {
    const message = await ask(messages);
    messages.push(message);
    if (message.tool_calls === undefined) break;
    for (const { id, function: call } of message.tool_calls) {
      const { content } = await registry.resolve(call.name).execute(id, JSON.parse(call.arguments));
      const text = content.map((block) => block.text ?? `[${block.type}]`).join("\n");
      messages.push({ role: "tool", tool_call_id: id, content: text });
    }
  }
  for (const { role, content } of messages) console.log(`${role}: ${content}`);

  // The registry follows the board: the tools of a server that goes are unregistered.
  const names = () => registry.resolveAll().map(({ name }) => name);
  console.log(`registered: ${names().join(", ")}`);
  await provider.board.reload({ servers: {} });
  console.log(`registered: ${names().join(", ")}`);
} finally {
  await provider.close();
  await script.close();
}

async function ask(messages) {
  const offered = registry.resolveAll().map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const response = await fetch(`${script.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "scripted", messages, tools: offered }),
  });
  const { choices } = await response.json();
  return choices[0].message;
}
