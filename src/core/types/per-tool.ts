// Looks up the value of a setting for one tool: its exception, if there is one.

import type { PerTool } from "./guard-settings.ts";
import {
  permittingPatternOfServer,
  restrictingPattern,
  type ToolName,
  type ToolPattern,
} from "./tool-pattern.ts";

/** Higher is stricter. */
export type Strictness<Value> = (value: Value) => number;

/**
 * The exception for this tool: the one for the very name of the tool, else the strictest of those whose pattern
 * matches. `fallback` applies where the setting has no default. A tool may have any name, even `constructor`.
 */
export function exceptionFor<Value>(
  setting: PerTool<Value> | undefined,
  name: ToolName,
  strictness: Strictness<Value>,
  fallback?: Value,
): Value | undefined {
  return namedExceptionFor(setting, name, strictness, fallback)?.value;
}

/** The same, with its name or pattern as it is written. */
export function namedExceptionFor<Value>(
  setting: PerTool<Value> | undefined,
  name: ToolName,
  strictness: Strictness<Value>,
  fallback?: Value,
): { text: string; value: Value } | undefined {
  const { tools, default: general = fallback } = setting ?? {};
  if (tools === undefined) return undefined;
  const own = Object.hasOwn(tools, name.tool) ? tools[name.tool] : undefined;
  if (own !== undefined) return { text: name.tool, value: own };
  // The default is about tools alone: without an exception, resources and prompts are not restricted at all.
  const hasUsual = general !== undefined && name.content === undefined;
  const usual = hasUsual ? strictness(general) : -Infinity;
  let strictest: { text: string; value: Value } | undefined;
  for (const { restricting, permitting, value } of compiled(tools)) {
    const pattern = strictness(value) < usual ? permitting : restricting;
    if (!pattern.matches(name)) continue;
    if (strictest === undefined || strictness(value) > strictness(strictest.value)) {
      strictest = { text: pattern.text, value };
    }
  }
  return strictest;
}

interface Exception<Value> {
  restricting: ToolPattern;
  permitting: ToolPattern;
  value: Value;
}

const cache = new WeakMap<object, Exception<unknown>[]>();

/** Kept, since every tool of a server is looked up in the same setting. */
function compiled<Value>(tools: Record<string, Value>): Exception<Value>[] {
  const known = cache.get(tools) as Exception<Value>[] | undefined;
  if (known !== undefined) return known;
  const exceptions = Object.entries(tools).map(([text, value]) => ({
    restricting: restrictingPattern(text, "server"),
    permitting: permittingPatternOfServer(text),
    value,
  }));
  cache.set(tools, exceptions);
  return exceptions;
}
