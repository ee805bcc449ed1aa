// Combines two settings for one server that must obey both: the stricter one of each counts, and neither can
// loosen the other.

import type { ApprovalMode, PerTool, ServerGuard } from "../types/guard-settings.ts";
import { type Include, INCLUDE_STRICTNESS, type IncludeMode } from "../types/include.ts";
import { exceptionFor, type Strictness } from "../types/per-tool.ts";
import { contentNamedBy, type KnownServer, toolName } from "../types/tool-pattern.ts";

const APPROVAL_MODES: readonly ApprovalMode[] = ["never", "destructive", "ask"];

export const APPROVAL_STRICTNESS: Strictness<ApprovalMode> = (mode) => APPROVAL_MODES.indexOf(mode);

/** `false` is no limit. */
export const LIMIT_STRICTNESS: Strictness<number | false> = (limit) =>
  limit === false ? -Infinity : -limit;

/**
 * `other` may add to what `mine` demands of a session's server, but takes nothing away. `agentMode` and
 * `perMinute` apply where `mine` sets no approval mode and no rate limit.
 */
export function strictestGuard(
  server: KnownServer,
  mine: ServerGuard | undefined,
  other: ServerGuard | undefined,
  agentMode: ApprovalMode = "never",
  perMinute: number | false = false,
): ServerGuard | undefined {
  if (other === undefined) return mine;
  const rules = [...(other.rules ?? []), ...(mine?.rules ?? [])];
  const modes = { strictness: APPROVAL_STRICTNESS, unset: agentMode };
  const calls = { strictness: LIMIT_STRICTNESS, unset: perMinute };
  const atOnce = { strictness: LIMIT_STRICTNESS, unset: Infinity };
  return {
    ...mine,
    rules: rules.length > 0 ? rules : undefined,
    approval: both(server, mine?.approval, other.approval, modes),
    rateLimit: both(server, mine?.rateLimit, other.rateLimit, calls),
    concurrency: both(server, mine?.concurrency, other.concurrency, atOnce),
  };
}

/**
 * A model gets neither what the one nor what the other keeps from it. `agent` of the other keeps nothing from it: what a
 * session brings is in the prompt.
 */
export function strictestInclude(
  server: KnownServer,
  mine: Include | undefined,
  other: Include | undefined,
): Include | undefined {
  return both<IncludeMode>(server, mine, withoutAgent(other), { strictness: INCLUDE_STRICTNESS });
}

function withoutAgent(include: Include | undefined): Include | undefined {
  if (include === undefined) return undefined;
  const { default: general, tools } = include;
  const named = Object.entries(tools ?? {}).map(
    ([name, mode]) => [name, mode === "agent" ? "always" : mode] as const,
  );
  return {
    default: general === "agent" ? undefined : general,
    tools: tools && Object.assign(Object.create(null), Object.fromEntries(named)),
  };
}

interface Order<Value> {
  strictness: Strictness<Value>;
  /** What applies where `mine` has no value. Default: whatever `other` says. */
  unset?: Value;
}

function both<Value>(
  server: KnownServer,
  mine: PerTool<Value> = {},
  other: PerTool<Value> = {},
  order: Order<NoInfer<Value>>,
): PerTool<Value> | undefined {
  const fallback = stricter(mine.default, other.default, order);
  const tools: Record<string, Value> = Object.create(null);
  for (const name of Object.keys({ ...mine.tools, ...other.tools })) {
    // Defaults are about tools alone.
    const isForTools = contentNamedBy(name) === undefined;
    const by = isForTools ? order : { strictness: order.strictness };
    const value = stricter(
      valueFor(name, server, isForTools ? mine : { tools: mine.tools }, by),
      valueFor(name, server, isForTools ? other : { tools: other.tools }, by),
      by,
    );
    if (value !== undefined) tools[name] = value;
  }
  const hasTools = Object.keys(tools).length > 0;
  if (fallback === undefined && !hasTools) return undefined;
  return { default: fallback, tools: hasTools ? tools : undefined };
}

/** Undefined if `mine` is not set and `other` is not stricter than what applies then. */
function stricter<Value>(
  mine: Value | undefined,
  other: Value | undefined,
  { strictness, unset }: Order<Value>,
): Value | undefined {
  const applies = mine ?? unset;
  if (applies === undefined || other === undefined) return mine ?? other;
  return strictness(other) > strictness(applies) ? other : mine;
}

/**
 * `name` is a key of the other setting: a tool, which patterns may match here, or a pattern itself, for whose tools
 * the default holds. The stricter one counts for both.
 */
function valueFor<Value>(
  name: string,
  { name: server, toolPrefix }: KnownServer,
  setting: PerTool<Value>,
  { strictness, unset }: Order<Value>,
): Value | undefined {
  // A tool may have any name, even `constructor`.
  const { default: general, tools = {} } = setting;
  if (Object.hasOwn(tools, name)) return tools[name];
  const source = { kind: "mcp", server, tool: name } as const;
  const pattern = contentNamedBy(name);
  const content = pattern && { kind: pattern.kind, name: pattern.glob };
  const named = toolName({ source, toolPrefix, publicName: name, content });
  const exception = exceptionFor(setting, named, strictness, unset);
  const usual = general ?? unset;
  if (exception === undefined || usual === undefined) return exception ?? general;
  return strictness(exception) > strictness(usual) ? exception : general;
}
