// Identifies a tool definition: a hash of everything that a model is told about the tool.

import { hash } from "node:crypto";
import type { PinnedTool } from "../../types/pin.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";

export function toPinnedTool(tool: ToolDefinition): PinnedTool {
  const { _meta: _, execution: _execution, icons: _icons, ...pinned } = tool;
  return pinned;
}

/** Leaves out the server's instructions: if they change, that is one change and not one of every tool. */
export function toolHash(tool: ToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return textHash(
    canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }),
  );
}

export function textHash(text: string): string {
  return hash("sha256", text, "hex");
}
