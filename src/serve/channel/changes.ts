// How what a board lists differs from what it listed before. The events of an attached board follow from that.

import type { ToolsEvent } from "../../core/types/events.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { Tool } from "../../core/types/tool.ts";

/** How the listed tools of one kind differ; undefined if they do not. */
export function toolsChange(
  before: readonly Tool[],
  now: readonly Tool[],
  isOfKind: (tool: Tool) => boolean,
): ToolsEvent | undefined {
  const [old, current] = [before, now].map(
    (tools) => new Map(tools.filter(isOfKind).map((tool) => [tool.name, tool])),
  ) as [Map<string, Tool>, Map<string, Tool>];
  const change: ToolsEvent = {
    added: [...current.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !current.has(name)),
    changed: [...current].flatMap(([name, tool]) => {
      const known = old.get(name);
      return known === undefined || isSameTool(known, tool) ? [] : [name];
    }),
  };
  return Object.values(change).some(({ length }) => length > 0) ? change : undefined;
}

/** An unchanged tool is mostly the same object, but not after another gateway has taken over. */
function isSameTool(one: Tool, other: Tool): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

export function isForModels({ include }: Tool): boolean {
  return include !== "app";
}

export function isForApps({ include }: Tool): boolean {
  return include === "app";
}

export function isSameState(one: ServerState, other: ServerState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
