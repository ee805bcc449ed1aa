// A board's tools for pi's agent loop: an `AgentTool` of pi-agent-core for each.

import { withoutPatterns } from "../../bridge/without-patterns.ts";
import type { Board } from "../../model/board.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { type AgentErrors, type AgentResult, runAgentCall } from "./shared-agent-call.ts";
import { Offer, type OfferedTool, type OfferOptions } from "./shared-offer.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface PiToolResult extends AgentResult {
  /** For programs; pi shows it to no model. */
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

export interface PiOptions extends OfferOptions {
  /**
   * How a failure is told. `throw`, the default, is what every pi understands; `return` keeps the images
   * and the details of a failure, for a pi whose `AgentToolResult` has `isError`.
   */
  errors?: AgentErrors;
}

/** What the board lists now: to be asked for again when its `tools` event says so. */
export function toPiTools(board: Pick<Board, "tools">, options: PiOptions = {}): PiTool[] {
  const offer = new Offer(board, { providers: ["generic"] }, options);
  return offer.list().map((offered) => toPiTool(offered, options));
}

function toPiTool(offered: OfferedTool, { errors = "throw" }: PiOptions): PiTool {
  const { name, description, schema, tool } = offered;
  return {
    name,
    label: tool.label,
    description,
    parameters: withoutPatterns(schema),
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    async execute(toolCallId, params, signal, onUpdate) {
      const call = { toolCallId, params, signal, onUpdate };
      return withStructured(await runAgentCall(offered, call, errors));
    },
  };
}

function withStructured(result: AgentResult): PiToolResult {
  const { details } = result;
  const structured = isJsonObject(details) ? details.structuredContent : undefined;
  // A server's came as JSON; a native tool's is what its author says it is.
  return structured === undefined ? result : { ...result, structuredContent: structured as Json };
}
