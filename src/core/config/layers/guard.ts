// Merges the guard's settings from all layers of a configuration. The rules of every layer are kept, each with its
// place; for any other setting the last layer counts.

import type {
  AgentGuard,
  ApprovalMode,
  AuditSettings,
  PerTool,
  PlacedRules,
  ServerGuard,
  ToolRules,
} from "../../types/guard-settings.ts";
import { formatPath, type KeyPath } from "../issue.ts";
import type { PlainServer } from "../schema/servers.ts";

export interface GuardLayer {
  path: KeyPath;
  settings: GuardSettings;
}

/** The part of an agent's settings, or of a board's, that is for the guard. */
interface GuardSettings extends Pick<AgentGuard, "pins" | "framing" | "limits"> {
  tools?: ToolRules & { approval?: ApprovalMode };
}

/** Empty where the block has no rules. `path` leads to what the block is in. */
export function placedRules(rules: ToolRules | undefined, path: KeyPath): PlacedRules[] {
  const { allow, deny = [], ownerOnly = [] } = rules ?? {};
  const reserves = typeof ownerOnly === "boolean" ? ownerOnly : ownerOnly.length > 0;
  // An empty `allow` is a rule: it allows nothing.
  if (allow === undefined && deny.length === 0 && !reserves) return [];
  return [
    {
      place: formatPath([...path, "tools"]),
      ...(allow !== undefined && { allow: [...allow] }),
      ...(deny.length > 0 && { deny: [...deny] }),
      ...(reserves && { ownerOnly: Array.isArray(ownerOnly) ? [...ownerOnly] : true }),
    },
  ];
}

export function serverGuard(server: PlainServer, rules: PlacedRules[]): ServerGuard | undefined {
  return unlessEmpty<ServerGuard>({
    rules: rules.length > 0 ? rules : undefined,
    approval: toPerTool(server.approval),
    pins: server.pins,
    trusted: server.trusted,
    framing: server.framing,
    rateLimit: toPerTool(server.rateLimit),
    concurrency: toPerTool(server.concurrency),
    maxResultBytes: server.maxResultBytes,
  });
}

/** The defaults come first. */
export function agentGuard(layers: readonly GuardLayer[]): AgentGuard | undefined {
  const rules = layers.flatMap(({ settings, path }) => placedRules(settings.tools, path));
  const last = <Value>(of: (settings: GuardSettings) => Value | undefined): Value | undefined =>
    layers.map(({ settings }) => of(settings)).findLast((value) => value !== undefined);
  return unlessEmpty<AgentGuard>({
    rules: rules.length > 0 ? rules : undefined,
    approval: last(({ tools }) => tools?.approval),
    pins: last(({ pins }) => pins),
    framing: last(({ framing }) => framing),
    limits: unlessEmpty({
      sessionServers: last(({ limits }) => limits?.sessionServers),
      sessionTools: last(({ limits }) => limits?.sessionTools),
    }),
  });
}

/** `toPath` resolves the name of the file. */
export function auditSettings(
  audit: AuditSettings | undefined,
  toPath: (file: string) => string,
): AuditSettings | undefined {
  return audit && { file: audit.file && toPath(audit.file), arguments: audit.arguments };
}

/**
 * A plain value replaces the lower setting; an object adds to it, so that an exception for one tool does not
 * undo what holds for the others.
 */
export function mergePerTool<Value extends string | number | false>(
  base: Value | PerTool<Value> | undefined,
  over: Value | PerTool<Value> | undefined,
): Value | PerTool<Value> | undefined {
  if (base === undefined || typeof over !== "object") return over ?? base;
  const lower = toPerTool(base);
  return {
    default: over.default ?? lower?.default,
    tools: definedValues({ ...lower?.tools, ...over.tools }),
  };
}

export function toPerTool<Value extends string | number | false>(
  setting: Value | PerTool<Value> | undefined,
): PerTool<Value> | undefined {
  if (typeof setting !== "object") return setting === undefined ? undefined : { default: setting };
  const tools = unlessEmpty(definedValues(setting.tools ?? {}));
  return unlessEmpty<PerTool<Value>>({ default: setting.default, tools });
}

/** Without a prototype: a tool may be called `__proto__`. */
function definedValues<Value>(values: Record<string, Value>): Record<string, Value> {
  const map: Record<string, Value> = Object.create(null);
  for (const [name, value] of Object.entries(values)) if (value !== undefined) map[name] = value;
  return map;
}

/** Without the keys that have no value; undefined where none is left. */
function unlessEmpty<Of extends object>(object: Of): Of | undefined {
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) delete object[key as keyof Of];
  }
  return Object.keys(object).length === 0 ? undefined : object;
}
