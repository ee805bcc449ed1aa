// Two settings for one server, where it is to be held to both: of each the stricter counts, and what one of
// them would loosen stays as it was.

import type { ApprovalMode, PerTool, ServerGuard } from "../model/guard-settings.ts";
import type { Include, IncludeMode } from "../model/include.ts";
import { SESSION_RATE_LIMIT } from "./session-limits.ts";

/**
 * `other` may add to what `mine` demands of a session's server, and takes nothing away. `agentMode` is what
 * holds where `mine` has no word on approval.
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
  return {
    ...mine,
    ...(rules.length > 0 && { rules }),
    ...(approval !== undefined && { approval }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** What either of them keeps from a model is kept from it. */
export function strictestInclude(
  mine: Include | undefined,
  other: Include | undefined,
): Include | undefined {
  const stricter: Stricter<IncludeMode> = (one, another) =>
    another === "manual" ? another : (one ?? another);
  return both(mine, other, stricter);
}

/** Undefined where `mine` says nothing and `other` nothing stricter than what then holds. */
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
  return { ...(fallback !== undefined && { default: fallback }), ...(hasTools && { tools }) };
}

/** The names of tools may be anything, `constructor` too. */
function valueFor<Value>(name: string, setting: PerTool<Value>): Value | undefined {
  const { tools } = setting;
  return tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : setting.default;
}

const STRICTNESS: Readonly<Record<ApprovalMode, number>> = { never: 0, destructive: 1, ask: 2 };

function stricterThan(unsaid: ApprovalMode): Stricter<ApprovalMode> {
  return (mine, other = "never") => (STRICTNESS[other] > STRICTNESS[mine ?? unsaid] ? other : mine);
}

function lowerThan<Limit extends number | false>(unsaid: number): Stricter<Limit> {
  const count = (limit: number | false): number => (limit === false ? Infinity : limit);
  return (mine, other) =>
    other !== undefined && count(other) < count(mine ?? unsaid) ? other : mine;
}
