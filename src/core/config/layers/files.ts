// Lays the agent of one file over the same agent of another: a project's file over the user's own. Each was read and
// checked by itself. What a file says about all servers is about its own servers first; for those of the file beneath,
// the file above can make the guard stricter, and never looser.

import { isDeepStrictEqual } from "node:util";
import type { AgentConfig, ModelProvider } from "../../types/agent-config.ts";
import type { ConfigProblem } from "../../types/errors.ts";
import type { AgentGuard, PerTool, PlacedRules, ServerGuard } from "../../types/guard-settings.ts";
import type { SecretProviderName } from "../../types/secret-provider.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import { everyReference } from "../secret-references.ts";
import { overlay } from "./merge.ts";
import { APPROVAL, FRAMING, PINS, SESSION_KEYS, strictest } from "./stricter.ts";

const GUARD_KEYS = [
  "approval",
  "pins",
  "framing",
  "rateLimit",
  "concurrency",
  "maxResultBytes",
] as const;

/** Without the right of the owner, which only the user's own file can give. */
export function withoutOwner(agent: AgentConfig): AgentConfig {
  const { acp, warnings, file } = agent;
  if (acp?.owner !== true) return agent;
  const message = "is not used: only the file in Plugboard's home can say that you are the owner";
  const warning = { path: "acp.owner", message, file };
  return { ...agent, acp: undefined, warnings: [...warnings, warning] };
}

/** `baseRoot` is all that the file beneath says. */
export function layOver(base: AgentConfig, above: AgentConfig, baseRoot: unknown): AgentConfig {
  const over = withoutOwner(above);
  const roots = over.roots ?? base.roots;
  const keepAlive = over.keepAlive ?? base.keepAlive;
  const names = over.hasToolNames ? over : base;
  const models = over.model === undefined ? base : over;
  const servers = layServers(base, over);
  const secrets = bothSecrets(base, over, baseRoot);
  const own = new Set(servers.map(({ name }) => name));
  const leftOut = [...(over.leftOut ?? []), ...(base.leftOut ?? [])].filter(
    ({ name }) => !own.has(name),
  );
  return {
    ...withoutUnset(base),
    ...withoutUnset(over),
    servers,
    leftOut: leftOut.length === 0 ? undefined : leftOut,
    toolNames: names.toolNames,
    hasToolNames: names.hasToolNames,
    model: models.model,
    models: models.models,
    modelProviders: bothProviders(base, over),
    nativeModules: bothModules(base, over),
    // Where nobody says anything about the project, it is worked on where the command runs.
    workspace: over.workspace,
    roots,
    keepAlive,
    secrets,
    guard: layGuard(base, over),
    audit: layAudit(base.audit, over.audit),
    session: laySession(base, over),
    warnings: [...base.warnings, ...over.warnings, ...unusedSecrets(secrets, over)],
    notes: bothNotes(base, over),
  };
}

/**
 * The providers of the lower file come first, and their own references are resolved by that file alone: the file above
 * must not decide which address gets the credentials of the user's own provider, or which program gives the values of
 * the user's own servers, workers and engines.
 */
function bothSecrets(
  base: AgentConfig,
  over: AgentConfig,
  baseRoot: unknown,
): AgentConfig["secrets"] {
  if (over.secrets === undefined) return base.secrets;
  const { secrets = {} } = base;
  const refersTo = everyReference(baseRoot);
  const used = new Set(refersTo.map(({ provider }) => provider));
  const helpers = new Set(
    refersTo.flatMap(({ provider, path }) => (provider === "exec" ? [path.split("/")[0]] : [])),
  );
  const free = Object.entries(over.secrets).filter(
    ([provider]) => provider === "exec" || !used.has(provider),
  );
  const exec = Object.entries(over.secrets.exec ?? {}).filter(([name]) => !helpers.has(name));
  return {
    ...Object.fromEntries(free),
    ...secrets,
    ...((over.secrets.exec ?? secrets.exec) && {
      exec: { ...Object.fromEntries(exec), ...secrets.exec },
    }),
  };
}

/** Tells that settings of the file above are not used, since the provider is one of the user's own. */
function unusedSecrets(
  own: AgentConfig["secrets"],
  { secrets: over = {}, file }: AgentConfig,
): ConfigProblem[] {
  return Object.entries(over).flatMap(([provider, settings]) => {
    const isUsed =
      provider === "exec" || isDeepStrictEqual(settings, own?.[provider as SecretProviderName]);
    if (isUsed) return [];
    const message = `is not used, because your own file uses secrets of ${provider}, and its settings hold for both`;
    return [{ path: `secrets.${provider}`, message, file }];
  });
}

/**
 * The key of a provider in the environment, or among the stored ones, is meant for the provider itself. Where the file
 * above chooses the address, it has to ask for the key by name, so that whoever trusts the file sees it.
 */
function bothProviders(
  { modelProviders: base }: AgentConfig,
  { modelProviders: over }: AgentConfig,
): AgentConfig["modelProviders"] {
  if (over === undefined) return base;
  const own = Object.entries(over).map(([name, provider]): [string, ModelProvider] => {
    const { type, baseUrl, apiKey } = provider;
    const beneath = base && Object.hasOwn(base, name) ? base[name] : undefined;
    const isYours = beneath?.type === type && beneath.baseUrl === baseUrl;
    if (baseUrl === undefined || apiKey || isYours) return [name, provider];
    return [name, { ...provider, needsOwnKey: true }];
  });
  return joined(base, Object.fromEntries(own));
}

/** The user's own in their order, then the project's. */
function layServers(base: AgentConfig, over: AgentConfig): ServerDefinition[] {
  const hiding = new Set(over.servers.map(({ name }) => name));
  const hidden = new Map(base.servers.map((each) => [each.name, each]));
  const kept = base.servers.filter(({ name }) => !hiding.has(name));
  return [
    ...kept.map((each) => ({
      ...withOwnSettings(each, base, over),
      ...withRules(each, placedRulesOf(each, base)),
      ...fileOf(base),
    })),
    ...over.servers.map((each) => {
      const beneath = hidden.get(each.name);
      const own = withOwnSettings(withGuardOf(over, each), over, base);
      if (beneath === undefined) return { ...own, ...fileOf(over) };
      return { ...asStrictAs(withGuardOf(base, beneath), own, base), ...fileOf(over, base) };
    }),
  ];
}

/**
 * A server that takes the name of yours is guarded as strictly as yours at least: what you have forbidden or want to be
 * asked about goes by the name, and so does your login, if the address is the same.
 */
function asStrictAs(
  beneath: ServerDefinition,
  own: ServerDefinition,
  base: AgentConfig,
): ServerDefinition {
  const { guard: lower = {} } = beneath;
  const { guard: upper = {} } = own;
  const rules = [...placedRulesOf(beneath, base), ...(upper.rules ?? [])];
  const guard = withoutUnset<ServerGuard>({
    ...upper,
    ...strictest(lower, upper, GUARD_KEYS),
    rules: rules.length === 0 ? undefined : rules,
    // Where you do not believe the labels of a server, nobody else makes you.
    trusted: upper.trusted === true && lower.trusted !== true ? undefined : upper.trusted,
  });
  return {
    ...own,
    ...strictest(beneath, own, ["include", "scope", "maxMessageBytes", "toolPrefix"]),
    resources: fewerResources(beneath.resources, own.resources),
    guard: Object.keys(guard).length === 0 ? undefined : guard,
  };
}

function fewerResources(
  lower: ServerDefinition["resources"],
  upper: ServerDefinition["resources"],
): ServerDefinition["resources"] {
  if (lower === undefined || upper === undefined) return upper ?? lower;
  return {
    ...upper,
    enabled: lower.enabled && upper.enabled,
    ...((lower.listOnly ?? upper.listOnly) && { listOnly: true }),
    filter: upper.filter.length > 0 ? upper.filter : lower.filter,
  };
}

/** What holds for all servers of its file, where the other file says something else about its own. */
function withOwnSettings(
  server: ServerDefinition,
  file: AgentConfig,
  other: AgentConfig,
): ServerDefinition {
  const { roots = file.roots, keepAlive = file.keepAlive } = server;
  return {
    ...server,
    roots: roots ?? (other.roots === undefined ? undefined : false),
    keepAlive: keepAlive ?? (other.keepAlive === undefined ? undefined : false),
  };
}

/** With what the file says about the calls of all its servers. */
function withGuardOf({ guard: general }: AgentConfig, server: ServerDefinition): ServerDefinition {
  const { approval, pins, framing } = general ?? {};
  if (approval === undefined && pins === undefined && framing === undefined) return server;
  const { guard: own = {} } = server;
  const asked: PerTool<typeof approval> | undefined =
    approval === undefined ? own.approval : { default: approval, ...own.approval };
  const guard = { ...withoutUnset({ pins, framing }), ...own, approval: asked } as ServerGuard;
  return { ...server, guard: withoutUnset(guard) };
}

function withRules(
  { guard }: ServerDefinition,
  rules: PlacedRules[],
): Pick<ServerDefinition, "guard"> {
  return rules.length === 0 ? {} : { guard: { ...guard, rules } };
}

function fileOf({ file }: AgentConfig, hidden?: AgentConfig): Pick<ServerDefinition, "from"> {
  if (file === undefined) return {};
  return { from: { file, hides: hidden?.file } };
}

/** Keys are written the same in both files, so a rule of the file beneath says which file it is in. */
function placedRulesOf(
  { guard }: { guard?: AgentGuard | ServerGuard | undefined },
  { file }: AgentConfig,
): PlacedRules[] {
  return (guard?.rules ?? []).map((each) => inFile(each, file));
}

function inFile(rules: PlacedRules, file: string | undefined): PlacedRules {
  return file === undefined ? rules : { ...rules, place: `${file}: ${rules.place}` };
}

function layGuard(base: AgentConfig, over: AgentConfig): AgentGuard | undefined {
  const [lower, upper] = [base.guard ?? {}, over.guard ?? {}];
  const rules = [...placedRulesOf(base, base), ...(upper.rules ?? [])];
  const limits = {
    sessionServers: least(lower.limits?.sessionServers, upper.limits?.sessionServers),
    sessionTools: least(lower.limits?.sessionTools, upper.limits?.sessionTools),
  };
  const guard = withoutUnset<AgentGuard>({
    rules: rules.length === 0 ? undefined : rules,
    approval: stricter(lower.approval, upper.approval, APPROVAL),
    pins: stricter(lower.pins, upper.pins, PINS),
    framing: stricter(lower.framing, upper.framing, FRAMING),
    limits: Object.values(limits).every((each) => each === undefined)
      ? undefined
      : withoutUnset(limits),
  });
  return Object.keys(guard).length === 0 ? undefined : guard;
}

/** What the file above asks for, unless it is looser than what holds without it. */
function stricter<Mode extends string>(
  lower: Mode | undefined,
  upper: Mode | undefined,
  { modes, unset }: { modes: readonly Mode[]; unset: NoInfer<Mode> },
): Mode | undefined {
  if (upper === undefined) return lower;
  return modes.indexOf(upper) > modes.indexOf(lower ?? unset) ? upper : lower;
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function laySession(base: AgentConfig, over: AgentConfig): AgentConfig["session"] {
  const lower = base.session && {
    ...base.session,
    rules: base.session.rules.map((each) => inFile(each, base.file)),
  };
  if (lower === undefined || over.session === undefined) return over.session ?? lower;
  const [mine, theirs] = [lower.settings, over.session.settings];
  const inBoth = SESSION_KEYS.filter((key) => key in mine && key in theirs);
  return {
    settings: { ...overlay(mine, theirs), ...strictest(mine, theirs, inBoth) },
    rules: [...lower.rules, ...over.session.rules],
  };
}

function bothModules(base: AgentConfig, over: AgentConfig): AgentConfig["nativeModules"] {
  const all = [...(base.nativeModules ?? []), ...(over.nativeModules ?? [])];
  const once = new Map(all.map((each) => [each.path, each]));
  return once.size === 0 ? undefined : [...once.values()];
}

function bothNotes(base: AgentConfig, over: AgentConfig): AgentConfig["notes"] {
  const notes = [...(base.notes ?? []), ...(over.notes ?? [])];
  return notes.length === 0 ? undefined : notes;
}

/** What is written the same can be another file in another directory, so yours is the one that counts. */
function layAudit(lower: AgentConfig["audit"], upper: AgentConfig["audit"]): AgentConfig["audit"] {
  const both = joined(lower, upper);
  return both && withoutUnset({ ...both, file: lower?.file ?? upper?.file });
}

function joined<Of extends object>(lower: Of | undefined, upper: Of | undefined): Of | undefined {
  if (lower === undefined || upper === undefined) return upper ?? lower;
  return { ...withoutUnset(lower), ...withoutUnset(upper) };
}

function withoutUnset<Of extends object>(object: Of): Of {
  const set = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Of;
}
