// Combines two settings for one server that must obey both: the stricter one of each counts, and neither can
// loosen the other.

import type { ApprovalMode, PerTool, ServerGuard } from "../model/guard-settings.ts";
import type { Include, IncludeMode } from "../model/include.ts";
import { SESSION_RATE_LIMIT } from "./session-limits.ts";

/**
 * `other` may add to what `mine` demands of a session's server, but takes nothing away. `agentMode` applies
 * where `mine` does not set an approval mode.
 */
export function strictestGuard(
  mine: ServerGuard | undefined,
  other: ServerGuard | undefined,
  agentMode: ApprovalMode = "never",
): ServerGuard | undefined {
  if (other === undefined) return mine;
  const rules = [...(other.rules ?? []), ...(mine?.rules ?? [])];
  const approval = both(mine?.approval, other.approval, stricterThan(agentMode));
  const rateLimit = both(mine?.rateLimit, other.rateLimit, lowerThan(SESSION_RATE_LIMIT));
  const concurrency = both(mine?.concurrency, other.concurrency, lowerThan(Infinity));
  return { ...mine, rules: rules.length > 0 ? rules : undefined, approval, rateLimit, concurrency };
}

/** A model gets neither what the one nor what the other keeps from it. */
export function strictestInclude(
  mine: Include | undefined,
  other: Include | undefined,
): Include | undefined {
  const stricter: Stricter<IncludeMode> = (one, another) =>
    another === "manual" ? another : (one ?? another);
  return both(mine, other, stricter);
}

/** Undefined if `mine` is not set and `other` is not stricter than what applies then. */
type Stricter<Value> = (mine: Value | undefined, other: Value | undefined) => Value | undefined;

function both<Value>(
  mine: PerTool<Value> = {},
  other: PerTool<Value> = {},
  stricter: Stricter<Value>,
): PerTool<Value> | undefined {
  const fallback = stricter(mine.default, other.default);
  const tools: Record<string, Value> = Object.create(null);
  for (const name of Object.keys({ ...mine.tools, ...other.tools })) {
    const value = stricter(valueFor(name, mine), valueFor(name, other));
    if (value !== undefined) tools[name] = value;
  }
  const hasTools = Object.keys(tools).length > 0;
  if (fallback === undefined && !hasTools) return undefined;
  return { default: fallback, tools: hasTools ? tools : undefined };
}

/** A tool may have any name, even `constructor`. */
function valueFor<Value>(name: string, setting: PerTool<Value>): Value | undefined {
  const { tools } = setting;
  return tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : setting.default;
}

const STRICTNESS: Readonly<Record<ApprovalMode, number>> = { never: 0, destructive: 1, ask: 2 };

function stricterThan(unset: ApprovalMode): Stricter<ApprovalMode> {
  return (mine, other = "never") => (STRICTNESS[other] > STRICTNESS[mine ?? unset] ? other : mine);
}

function lowerThan<Limit extends number | false>(unset: number): Stricter<Limit> {
  const count = (limit: number | false): number => (limit === false ? Infinity : limit);
  return (mine, other) =>
    other !== undefined && count(other) < count(mine ?? unset) ? other : mine;
}
