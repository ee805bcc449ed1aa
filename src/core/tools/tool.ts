// An MCP tool as a unified tool.

import {
  type ModelDetails,
  type CallOutcome,
  type CatalogEntry,
  needsTask,
  type Tool,
  type ToolResult,
} from "../types/tool.ts";
import type { BoardCallOptions } from "../types/board.ts";
import type { JsonObject } from "../types/json.ts";
import { oneLine, plainWithEmoji } from "../../util/text.ts";

export type Execute = (
  name: string,
  params: JsonObject,
  options: Pick<BoardCallOptions, "callId" | "signal" | "onUpdate">,
) => Promise<CallOutcome>;

/** Turns an outcome into what a model reads, with a note of the host's own after it. Must not throw or reject. */
export type Present = (
  outcome: CallOutcome,
  note?: string,
) => ToolResult<ModelDetails> | Promise<ToolResult<ModelDetails>>;

const TASK_NOTE =
  "This tool runs only as a task, which this version of Plugboard does not support.";

export function toTool(source: CatalogEntry, call: Execute, present: Present): Tool<ModelDetails> {
  const { publicName, server, tool } = source;
  const words = [plainWithEmoji(tool.description ?? "").trim() || "No description"];
  if (needsTask(tool)) words.push(`(${TASK_NOTE})`);
  return {
    name: publicName,
    label: `MCP: ${server}/${oneLine(tool.name, 128)}`,
    description: `[${server}] ${words.join("\n")}`,
    parameters: tool.inputSchema,
    ...(tool.title !== undefined && { title: tool.title }),
    ...(tool.description !== undefined && { ownDescription: tool.description }),
    ...(tool.icons !== undefined && { icons: tool.icons }),
    ...(tool.annotations !== undefined && { annotations: tool.annotations }),
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    ...(tool.execution !== undefined && { execution: tool.execution }),
    ...(tool._meta !== undefined && { _meta: tool._meta }),
    source: { kind: "mcp", server, tool: tool.name },
    async execute(callId, params, signal, onUpdate) {
      const outcome = await call(publicName, params, { callId, signal, onUpdate });
      if (outcome.isError !== true) return present(outcome);
      // Loaded with the first failure.
      const { misfitNote } = await import("./arguments/misfits.ts");
      return present(outcome, misfitNote(outcome, params, tool.inputSchema));
    },
  };
}

/** For a tool that needs a task: says so beside what the server answered, if that is an error. */
export function explainTask(outcome: CallOutcome): CallOutcome {
  const { failure, isError, content } = outcome;
  if (!isError || (failure !== undefined && failure.code !== "SERVER_ERROR")) return outcome;
  const explained = {
    ...outcome,
    content: [...content, { type: "text" as const, text: TASK_NOTE }],
  };
  if (failure === undefined) return explained;
  return { ...explained, failure: { ...failure, message: `${failure.message}. ${TASK_NOTE}` } };
}
