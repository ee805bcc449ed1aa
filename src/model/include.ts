// Which of a server's tools are shown to models. People and programs can still call the others by name.

import type { PerTool } from "./guard-settings.ts";
import { isJsonObject } from "./json.ts";
import type { Tool, ToolDefinition } from "./tool.ts";

/** `agent` is meant for models that search for tools. There is no search yet, so it means `always`. */
export type IncludeMode = "always" | "manual" | "agent";

export type Include = PerTool<IncludeMode>;

/** `tool` is the server's own name of the tool. It may be any text, `constructor` included. */
export function isManual(tool: string, { default: general, tools = {} }: Include = {}): boolean {
  const own = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return (own ?? general) === "manual";
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
