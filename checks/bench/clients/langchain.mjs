// LangChain's MCP adapters: a call is a tool's `invoke`.

import { MultiServerMCPClient } from "@langchain/mcp-adapters";

export async function open(command, args) {
  const { client, tools } = await connect({ echo: { command, args } });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools: tools.length,
    call: (name, params) => byName.get(name).invoke(params),
    text: (result) => result,
    close: () => client.close(),
  };
}

export async function openAll(servers) {
  const { client, tools } = await connect(servers);
  return { tools: tools.length, close: () => client.close() };
}

async function connect(servers) {
  const client = new MultiServerMCPClient(servers);
  return { client, tools: await client.getTools() };
}
