// The MCP SDK's first client, with its own stdio transport.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export async function open(command, args) {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args }));
  const { tools } = await client.listTools();
  return {
    tools: tools.length,
    call: (name, params) => client.callTool({ name, arguments: params }),
    text: (result) => result.content[0].text,
    close: () => client.close(),
  };
}
