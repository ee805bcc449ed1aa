// Which of a server's tools are shown to models, and how. People and programs can still call the others by name.

import type { PerTool } from "./guard-settings.ts";
import { isJsonObject } from "./json.ts";
import { exceptionFor, type Strictness } from "./per-tool.ts";
import type { ToolName } from "./tool-pattern.ts";
import { needsTask, type Tool, type ToolDefinition } from "./tool.ts";

/** `always`: in the prompt. `agent`: the model finds it by search. `manual`: only if a person or a program adds it. */
export type IncludeMode = "always" | "agent" | "manual";

export type Include = PerTool<IncludeMode>;

/**
 * What a model does with many tools. `on`: it searches for those of the agent's servers. `index`: it searches too, and
 * has the names of all in the prompt, with one line each. `off`: all are in the prompt. `auto`: as `on` when the
 * definitions would take much of the prompt, else as `off`.
 */
export type ToolSearchSetting = "auto" | "on" | "index" | "off";

export const SEARCH_SETTINGS: readonly ToolSearchSetting[] = ["auto", "on", "index", "off"];

const MODES: readonly IncludeMode[] = ["always", "agent", "manual"];

export const INCLUDE_STRICTNESS: Strictness<IncludeMode> = (mode) => MODES.indexOf(mode);

/**
 * What the setting says about a tool. Undefined: nothing about this very tool, and nothing that keeps the server's tools
 * out of the prompt. Such a tool is in the prompt unless there are too many; one that is named as `always` is in any case.
 */
export function includeOf(name: ToolName, include: Include = {}): IncludeMode | undefined {
  const own = exceptionFor(include, name, INCLUDE_STRICTNESS);
  return own ?? (include.default === "always" ? undefined : include.default);
}

/**
 * Whether a server keeps the tool for its own app (MCP Apps), so that no model may get it: it says who sees the
 * tool, and does not name the model.
 */
export function isForApp({ _meta }: Pick<ToolDefinition, "_meta">): boolean {
  const visibility = isJsonObject(_meta?.["ui"]) ? _meta["ui"]["visibility"] : undefined;
  return Array.isArray(visibility) && !visibility.includes("model");
}

/** The URIs of the app that shows the tool's results, in both places where servers write it. */
export function appUrisOf({ _meta = {} }: Pick<ToolDefinition, "_meta">): string[] {
  const { ui } = _meta;
  const named = [isJsonObject(ui) ? ui["resourceUri"] : undefined, _meta["ui/resourceUri"]];
  return named.filter((uri) => typeof uri === "string");
}

type Included = Pick<Tool, "include" | "execution">;

/** Whether a model may get the tool at all, in its prompt or by search. One that runs only as a task could not be called. */
export function isForModels(tool: Included): boolean {
  const { include } = tool;
  return include !== "manual" && include !== "app" && !needsTask(tool);
}

/** Whether the tool is in a prompt, as long as there are not too many. */
export function isShownToModels(tool: Included): boolean {
  return isForModels(tool) && tool.include !== "agent";
}

/** Whether a search finds the tool. What is in every prompt need not be found. */
export function isSearchable(tool: Included): boolean {
  return isForModels(tool) && tool.include !== "always";
}
