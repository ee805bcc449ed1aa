// What the layers of a configuration say to the guard. Rules of all layers are kept, each with its place;
// of everything else the last word counts.

import type {
  AgentGuard,
  AuditSettings,
  PerTool,
  PlacedRules,
  ServerGuard,
  ToolRules,
} from "../model/guard-settings.ts";
import type { KeyPath } from "./issue.ts";
import { formatPath } from "./issue.ts";
import type { BoardConfig } from "./server-config.ts";
import type { PlainServer } from "./servers.ts";

/** The part of an agent's settings, or of a board's, that is for the guard. */
interface GuardSettings extends Pick<BoardConfig, "pins" | "framing" | "limits"> {
  tools?: ToolRules & Pick<BoardConfig, "approval">;
}

export interface GuardLayer {
  path: KeyPath;
  settings: GuardSettings;
}

/** None where the block asks for nothing. `path` leads to what the block is in. */
export function placedRules(rules: ToolRules | undefined, path: KeyPath): PlacedRules[] {
  const { allow, deny = [], ownerOnly = [] } = rules ?? {};
  const reserves = typeof ownerOnly === "boolean" ? ownerOnly : ownerOnly.length > 0;
  // An empty list of what is allowed says a lot.
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
  const { approval, rateLimit, concurrency } = server;
  return unlessEmpty<ServerGuard>({
    rules: rules.length > 0 ? rules : undefined,
    approval: toPerTool(approval),
    pins: server.pins,
    trusted: server.trusted,
    framing: server.framing,
    rateLimit: toPerTool(rateLimit),
    concurrency: toPerTool(concurrency),
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

/** `toPath` makes of a file's name what it means in this configuration. */
export function auditSettings(
  audit: AuditSettings | undefined,
  toPath: (file: string) => string,
): AuditSettings | undefined {
  if (audit === undefined) return undefined;
  const { file } = audit;
  return {
    ...(file !== undefined && { file: toPath(file) }),
    ...(audit.arguments !== undefined && { arguments: audit.arguments }),
  };
}

/**
 * One setting over another: a plain value replaces it whole, an object says more about it, so that an
 * exception for one tool does not undo what holds for the others.
 */
export function mergePerTool<Value extends string | number | false>(
  base: Value | PerTool<Value> | undefined,
  over: Value | PerTool<Value> | undefined,
): Value | PerTool<Value> | undefined {
  if (base === undefined || typeof over !== "object") return over ?? base;
  const lower = toPerTool(base);
  return {
    default: over.default ?? lower?.default,
    tools: mapOf({ ...lower?.tools, ...over.tools }),
  };
}

export function toPerTool<Value extends string | number | false>(
  setting: Value | PerTool<Value> | undefined,
): PerTool<Value> | undefined {
  if (typeof setting !== "object") return setting === undefined ? undefined : { default: setting };
  const tools = unlessEmpty(mapOf(setting.tools ?? {}));
  return unlessEmpty<PerTool<Value>>({ default: setting.default, tools });
}

/** Without a prototype: tools may be called anything. */
function mapOf<Value>(values: Record<string, Value>): Record<string, Value> {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined);
  const map: Record<string, Value> = Object.create(null);
  for (const [name, value] of defined) map[name] = value;
  return map;
}

/** Without the keys that have no value; undefined where none is left. */
function unlessEmpty<Of extends object>(object: Of): Of | undefined {
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) delete object[key as keyof Of];
  }
  return Object.keys(object).length === 0 ? undefined : object;
}
