// An MCP tool as a unified tool.

import type {
  ModelDetails,
  CallOutcome,
  Tool,
  ToolDefinition,
  ToolResult,
  UpdateListener,
} from "../model/tool.ts";
import type { JsonObject } from "../model/json.ts";
import { oneLine, plainText } from "../util/text.ts";

export interface BridgedTool {
  publicName: string;
  server: string;
  tool: ToolDefinition;
}

export type Execute = (
  name: string,
  params: JsonObject,
  options: { callId: string; signal?: AbortSignal; onUpdate?: UpdateListener },
) => Promise<CallOutcome>;

/** Turns an outcome into what a model reads. Must not throw or reject. */
export type Present = (
  outcome: CallOutcome,
) => ToolResult<ModelDetails> | Promise<ToolResult<ModelDetails>>;

export function toTool(source: BridgedTool, call: Execute, present: Present): Tool<ModelDetails> {
  const { publicName, server, tool } = source;
  const description = plainText(tool.description ?? "").trim();
  return {
    name: publicName,
    label: `MCP: ${server}/${oneLine(tool.name, 128)}`,
    description: `[${server}] ${description === "" ? "No description" : description}`,
    parameters: tool.inputSchema,
    ...(tool.annotations !== undefined && { annotations: tool.annotations }),
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    source: { kind: "mcp", server, tool: tool.name },
    async execute(callId, params, signal, onUpdate) {
      return present(await call(publicName, params, { callId, signal, onUpdate }));
    },
  };
}
