// Which of a server's tools are shown to models. People and programs can still call the others by name.

import type { PerTool } from "./guard-settings.ts";
import { isJsonObject } from "./json.ts";
import { exceptionFor, type Strictness } from "./per-tool.ts";
import type { ToolName } from "./tool-pattern.ts";
import type { Tool, ToolDefinition } from "./tool.ts";

/** `agent` is meant for models that search for tools. There is no search yet, so it means `always`. */
export type IncludeMode = "always" | "manual" | "agent";

export type Include = PerTool<IncludeMode>;

export const INCLUDE_STRICTNESS: Strictness<IncludeMode> = (mode) => (mode === "manual" ? 1 : 0);

export function isManual(name: ToolName, include: Include = {}): boolean {
  const own = exceptionFor(include, name, INCLUDE_STRICTNESS);
  return (own ?? include.default) === "manual";
}

/**
 * Whether a server keeps the tool for its own app (MCP Apps), so that no model may get it: it says who sees the
 * tool, and does not name the model.
 */
export function isForApp({ _meta }: Pick<ToolDefinition, "_meta">): boolean {
  const visibility = isJsonObject(_meta?.["ui"]) ? _meta["ui"]["visibility"] : undefined;
  return Array.isArray(visibility) && !visibility.includes("model");
}

export function isShownToModels({ include }: Pick<Tool, "include">): boolean {
  return include === undefined;
}
