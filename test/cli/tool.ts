// Tools without a server behind them.

import type { Tool } from "../../src/core/types/tool.ts";

export function tool(server: string, name: string, overrides: Partial<Tool> = {}): Tool {
  return {
    name: `mcp__${server}__${name}`,
    label: `MCP: ${server}/${name}`,
    description: `[${server}] Does ${name}.`,
    parameters: { type: "object", properties: {} },
    source: { kind: "mcp", server, tool: name },
    execute: async () => ({ content: [] }),
    ...overrides,
  };
}

export function nativeTool(name: string): Tool {
  return tool("", "", {
    name,
    label: name,
    description: `Does ${name}.`,
    source: { kind: "native" },
  });
}
