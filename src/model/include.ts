// Which of a server's tools a model is offered. The others are for people and programs, who ask for them by name.

import type { PerTool } from "./guard-settings.ts";
import type { Tool } from "./tool.ts";

/** `agent` is for a model that searches for tools; until there is a search, it is `always`. */
export type IncludeMode = "always" | "manual" | "agent";

export type Include = PerTool<IncludeMode>;

/** `tool` by the server's own name, which may be anything. */
export function isManual(tool: string, { default: general, tools = {} }: Include = {}): boolean {
  const own = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return (own ?? general) === "manual";
}

/** Whether a model is to know of it. */
export function isShownToModels({ include }: Pick<Tool, "include">): boolean {
  return include !== "manual";
}
