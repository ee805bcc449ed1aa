// What makes a tool the tool it was: a hash of everything a model is told about it.

import { createHash } from "node:crypto";
import type { PinnedTool } from "../../model/pin.ts";
import type { ToolDefinition } from "../../model/tool.ts";
import { canonicalJson } from "../../util/canonical-json.ts";

export function toPinnedTool(tool: ToolDefinition): PinnedTool {
  const { _meta: _, ...pinned } = tool;
  return pinned;
}

/**
 * With the server's instructions, for whoever must notice a change of either. Pins leave them out, and
 * keep them once per server: then a change of theirs is one change, not one of every tool.
 */
export function toolHash(tool: ToolDefinition, instructions?: string): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return textHash(
    canonicalJson({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations,
      ...(instructions !== undefined && instructions !== "" && { instructions }),
    }),
  );
}

export function textHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
