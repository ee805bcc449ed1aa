// The AI SDK's MCP client.

import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";

export async function open(command, args) {
  const client = await createMCPClient({ transport: new StdioMCPTransport({ command, args }) });
  const { tools } = await client.listTools();
  return {
    tools: tools.length,
    // Its shortest way to a server; `tools()` puts the SDK's tool object around the same call.
    call: (name, params) => client.callTool({ name, arguments: params }),
    text: (result) => result.content[0].text,
    close: () => client.close(),
  };
}
