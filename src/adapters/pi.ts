// A board's tools for pi's agent loop: an `AgentTool` of pi-agent-core for each.

import type { ModelTool } from "../core/tools/model-tools.ts";
import { withoutPatterns } from "../core/tools/without-patterns.ts";
import { isJsonObject, type JsonObject } from "../core/types/json.ts";
import { type AgentToolErrors, type AgentToolResult, executeAgentTool } from "./agent-tool.ts";
import { type AdapterBoard, type AdapterOptions, boardTools, SNAPSHOT } from "./board-tools.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface PiToolResult extends AgentToolResult {
  /** For programs; pi does not show it to the model. */
  structuredContent?: Json;
}

export interface PiTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonObject;
  outputSchema?: JsonObject;
  execute: (
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: PiToolResult) => void,
  ) => Promise<PiToolResult>;
}

export interface PiOptions extends AdapterOptions {
  /**
   * What a failed call does. `throw`, the default, works with every pi; `return` keeps the images and the
   * details of a failure, for a pi whose `AgentToolResult` has `isError`.
   */
  errors?: AgentToolErrors;
}

/** A snapshot of the board's tools: call it again on the board's `tools` event. */
export function toPiTools(board: AdapterBoard, options: PiOptions = {}): PiTool[] {
  const listed = boardTools(board, { providers: ["generic"] }, options, SNAPSHOT).tools.list();
  return [...listed.values()].map((modelTool) => toPiTool(modelTool, options));
}

function toPiTool(modelTool: ModelTool, { errors = "throw" }: PiOptions): PiTool {
  const { name, description, schema, tool } = modelTool;
  return {
    name,
    label: tool.label,
    description,
    parameters: withoutPatterns(schema),
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    async execute(toolCallId, params, signal, onUpdate) {
      const call = { toolCallId, params, signal, onUpdate };
      return withStructured(await executeAgentTool(modelTool, call, errors));
    },
  };
}

function withStructured(result: AgentToolResult): PiToolResult {
  const { details } = result;
  const structured = isJsonObject(details) ? details.structuredContent : undefined;
  // A server's value came as JSON; for a native tool we trust its author.
  return structured === undefined ? result : { ...result, structuredContent: structured as Json };
}
