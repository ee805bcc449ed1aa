// The tools that a model is offered, within what its provider accepts and its window holds, and the tools that
// it is not offered.

import { ModelTools, type ModelToolsOptions } from "../../core/tools/model-tools.ts";
import type { Diagnostic } from "../../core/types/diagnostic.ts";
import type { Tool } from "../../core/types/tool.ts";
import { oneLine } from "../../util/text.ts";
import type { ModelLimits } from "./provider.ts";

/** A longer list of names would bury the reason. */
const MOST_NAMES = 3;

export function offeredTools(
  tools: () => readonly Tool[],
  { schemas, maxTools, contextWindow }: ModelLimits,
  given: Pick<ModelToolsOptions, "onLeftOut" | "find">,
): ModelTools {
  return new ModelTools(tools, { providers: [schemas], maxTools, contextWindow, ...given });
}

/** The tools for models that the model `id` does not get, one line for each server and reason. */
export function leftOutTools(
  tools: readonly Tool[],
  { id, ...limits }: ModelLimits & { id: string },
): Diagnostic[] {
  const groups = new Map<string, { server: string; names: string[]; message: string }>();
  const onLeftOut = ({ source, name }: Tool, reason: string): void => {
    const server = source.kind === "mcp" ? source.server : source.kind;
    const key = JSON.stringify([server, reason]);
    const message = `not offered to ${id}: ${reason}`;
    const group = groups.get(key) ?? { server, names: [], message };
    group.names.push(oneLine(source.kind === "mcp" ? source.tool : name, 80));
    groups.set(key, group);
  };
  offeredTools(() => tools, limits, { onLeftOut }).list();
  return Array.from(groups.values(), ({ server, names, message }) => ({
    server,
    subject: listed(names),
    message,
  }));
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}
