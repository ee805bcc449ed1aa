// Which tool somebody means: by public name, by `server/tool`, or by the tool's own name where one has it.

import { PlugboardError } from "../../../model/errors.ts";
import type { Tool } from "../../../model/tool.ts";
import { closest } from "../../../util/closest.ts";

const MOST_SUGGESTIONS = 3;

/** `server/tool`: what a person types and what rules are kept for. */
export function canonicalName({ name, source }: Tool): string {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}

/** By a name that no other tool can have. */
export function findExactly(name: string, tools: readonly Tool[]): Tool | undefined {
  return (
    tools.find((tool) => tool.name === name) ?? tools.find((tool) => canonicalName(tool) === name)
  );
}

/** Throws UNKNOWN_TOOL, with what may have been meant. */
export function findTool(name: string, tools: readonly Tool[]): Tool {
  const exact = findExactly(name, tools);
  if (exact !== undefined) return exact;
  const [only, ...others] = tools.filter((tool) => ownName(tool) === name);
  if (only === undefined) throw unknownTool(name, tools);
  if (others.length === 0) return only;
  const names = [only, ...others].map(canonicalName).join(", ");
  throw new PlugboardError("UNKNOWN_TOOL", `several tools are named '${name}'`, {
    hint: `say which: ${names}`,
  });
}

/** The likeliest ones, as `server/tool`. */
export function nearestTools(name: string, tools: readonly Tool[]): string[] {
  const byName = new Map<string, string>();
  for (const tool of tools) {
    // Compared with its like: half of a full name says nothing about a tool.
    for (const alias of name.includes("/") ? [canonicalName(tool)] : [ownName(tool), tool.name]) {
      if (!byName.has(alias)) byName.set(alias, canonicalName(tool));
    }
  }
  const nearest: string[] = [];
  while (nearest.length < MOST_SUGGESTIONS) {
    const candidates = [...byName].flatMap(([alias, meant]) =>
      nearest.includes(meant) ? [] : alias,
    );
    const meant = byName.get(closest(name, candidates) ?? "");
    if (meant === undefined) break;
    nearest.push(meant);
  }
  return nearest;
}

export function didYouMean(names: readonly string[]): string | undefined {
  const last = names.at(-1);
  if (last === undefined) return undefined;
  const others = names.slice(0, -1).join(", ");
  return `did you mean ${others === "" ? last : `${others} or ${last}`}?`;
}

function unknownTool(name: string, tools: readonly Tool[]): PlugboardError {
  const meant = didYouMean(nearestTools(name, tools));
  const hint = meant === undefined ? "" : `${meant} `;
  return new PlugboardError("UNKNOWN_TOOL", `there is no tool named '${name}'`, {
    hint: `${hint}plugboard tools lists them all`,
  });
}

function ownName({ name, source }: Tool): string {
  return source.kind === "mcp" ? source.tool : name;
}
