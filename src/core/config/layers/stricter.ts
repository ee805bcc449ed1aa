// What a project's file may do to your own: of each key here, the stricter value holds. A project's file that says
// something looser than yours, or than what holds where yours says nothing, is refused at that place. What only concerns
// the project, and starts nothing, is not here: models, prompts, timeouts.

import { isDeepStrictEqual } from "node:util";
import { valueIn } from "../../types/json.ts";
import { isLocal } from "../../net/policy.ts";
import { DEFAULT_LIMITS } from "../../types/gateway-settings.ts";
import type { PerTool } from "../../types/guard-settings.ts";
import type { SessionDefaults } from "../../types/server-config.ts";
import { atKey, formatPath, type Issue, type KeyPath, quote } from "../issue.ts";
import type { AgentLayer, AgentLayers } from "../schema/agents.ts";
import type { PlainServer } from "../schema/servers.ts";
import { toPerTool } from "./guard.ts";
import { mergeServers, mergeSessionDefaults } from "./merge.ts";

const MEBIBYTE = 1024 * 1024;

interface Rule {
  /** What holds of both. `mine` is undefined where your file does not say. */
  hold: (mine: unknown, theirs: unknown) => unknown;
  /** Whether all that the project says holds. Absent: if both are the same. */
  takes?: (mine: unknown, theirs: unknown) => boolean;
  /** What holds where nobody says anything, for messages. Absent: nothing to compare with. */
  unset?: unknown;
}

/** From the loosest to the strictest. Without `unset`, only what you have set is compared with. */
function inOrder(modes: readonly unknown[], unset?: unknown): Rule {
  const rank = (value: unknown): number => modes.indexOf(value === "context" ? true : value);
  return {
    unset,
    hold: (mine = unset, theirs = unset) => (rank(mine) > rank(theirs) ? mine : theirs),
  };
}

/** A number, or `false` for no limit. */
function atMost(unset?: number): Rule {
  const most = (value: unknown): number => (typeof value === "number" ? value : Infinity);
  return {
    unset,
    hold: (mine = unset, theirs = unset) => (most(mine) < most(theirs) ? mine : theirs),
  };
}

/** A list that can only lose entries. `all`: where yours is absent, it stands for everything. */
function within(absent: "none" | "all"): Rule {
  return {
    hold: (mine, theirs) => {
      if (mine === undefined && absent === "all") return theirs;
      const allowed = Array.isArray(mine) ? (mine as unknown[]) : [];
      return Array.isArray(theirs) ? theirs.filter((each) => allowed.includes(each)) : mine;
    },
  };
}

/** Only your own file can say it. */
const yours: Rule = { hold: (mine) => mine };

/** The project can say it where you do not. */
const yoursFirst: Rule = { hold: (mine, theirs) => mine ?? theirs };

/** The project can have the gateway listen to this machine alone. */
const listening: Rule = {
  hold: (mine = "127.0.0.1", theirs) =>
    typeof theirs === "string" && isLocal(theirs) ? theirs : mine,
};

function perTool(rule: Rule): Rule {
  const hold = (mine: unknown, theirs: unknown): PerTool<unknown> | undefined =>
    strictestPerTool(rule, asPerTool(mine), asPerTool(theirs));
  return {
    unset: rule.unset,
    hold,
    // Yours may have more exceptions.
    takes: (mine, theirs) => {
      const held = hold(mine, theirs);
      const { default: general, tools = {} } = asPerTool(theirs) ?? {};
      return (
        (general === undefined || held?.default === general) &&
        Object.entries(tools).every(([tool, value]) => held?.tools?.[tool] === value)
      );
    },
  };
}

const asPerTool = (value: unknown): PerTool<unknown> | undefined =>
  toPerTool(value as PerTool<number> | undefined);

/** Which tools a pattern means is not known here, so it is held against all exceptions that may mean the same tool. */
function strictestPerTool(
  { hold }: Rule,
  mine: PerTool<unknown> | undefined,
  theirs: PerTool<unknown> | undefined,
): PerTool<unknown> | undefined {
  if (theirs === undefined) return mine;
  const both = (one: unknown, other: unknown): unknown =>
    other === undefined ? one : hold(one, other);
  const valueFor = (setting: PerTool<unknown> = {}, key: string): unknown => {
    const { default: general, tools = {} } = setting;
    if (Object.hasOwn(tools, key)) return tools[key];
    return Object.entries(tools)
      .filter(([pattern]) => mayMeanTheSame(pattern, key))
      .reduce((value, [, each]) => both(value, each), general);
  };
  const tools: Record<string, unknown> = Object.create(null);
  for (const key of [mine, theirs].flatMap((each) => Object.keys(each?.tools ?? {}))) {
    tools[key] = both(valueFor(mine, key), valueFor(theirs, key));
  }
  const general = both(mine?.default, theirs.default);
  return {
    ...(general !== undefined && { default: general }),
    ...(Object.keys(tools).length > 0 && { tools }),
  };
}

/** A tool may be written with its server, in several ways, all of which end with its name. */
function mayMeanTheSame(...patterns: [string, string]): boolean {
  const [one = "", other = ""] = patterns.map((each) => each.split(/[/.:]|__/).at(-1));
  const isAny = patterns.some((each) => /[*@]/.test(each));
  return isAny || one.endsWith(other) || other.endsWith(one);
}

/** From the loosest to the strictest, and what holds where nobody says anything. */
export const APPROVAL = { modes: ["never", "destructive", "ask"], unset: "never" } as const;
export const PINS = { modes: ["off", "warn", "block"], unset: "warn" } as const;
export const FRAMING = { modes: ["off", "compact", "full"], unset: "full" } as const;

type Rules = Readonly<Record<string, Rule>>;

/** Of the root of a file, by the path of the key. */
const ROOT: Rules = {
  "audit.file": yours,
  "audit.arguments": inOrder([false, true], false),
  "network.allow": within("none"),
  "network.proxy": yours,
  "network.inherit": inOrder([true, false], true),
  "secrets.file.path": yours,
  "acp.owner": inOrder([true, false], false),
  registry: yours,
  "gateway.host": listening,
  "gateway.tls": yoursFirst,
  "gateway.behindProxy": inOrder([true, false], false),
  "gateway.publicUrl": yours,
  "gateway.allowedHosts": within("none"),
  "gateway.allowedOrigins": within("none"),
  "gateway.jwt": yours,
  "gateway.ui": yours,
  "gateway.shared": yours,
  ...Object.fromEntries(
    Object.entries(DEFAULT_LIMITS).map(([key, most]) => [`gateway.limits.${key}`, atMost(most)]),
  ),
  "gateway.quotas.callsPerMinute": atMost(),
  "gateway.quotas.callsPerDay": atMost(),
  "gateway.quotas.concurrentCalls": atMost(),
};

/** Of an agent. What you have set for all servers holds for the project's as well. */
const AGENT: Rules = {
  "tools.approval": inOrder(APPROVAL.modes),
  pins: inOrder(PINS.modes),
  framing: inOrder(FRAMING.modes),
  "limits.sessionServers": atMost(10),
  "limits.sessionTools": atMost(100),
  maxSteps: atMost(50),
  // Your rules may name a tool as it is called with them.
  "mcp.toolNames": yoursFirst,
  "mcp.toolNameLength": yoursFirst,
};

/** Of a server of your name, and of all servers that a session brings. */
const SERVER: Rules = {
  approval: perTool(inOrder(APPROVAL.modes, APPROVAL.unset)),
  pins: inOrder(PINS.modes, PINS.unset),
  framing: inOrder(FRAMING.modes, FRAMING.unset),
  trusted: inOrder([true, false], false),
  include: perTool(inOrder(["always", "agent", "manual"], "always")),
  resources: inOrder([true, "list", false], true),
  resourceFilter: within("all"),
  sampling: inOrder(["allow", "ask", "deny"], "deny"),
  rateLimit: perTool(atMost()),
  concurrency: perTool(atMost()),
  maxResultBytes: atMost(262_144),
  maxMessageBytes: atMost(64 * MEBIBYTE),
  scope: inOrder(["shared", "session"], "shared"),
  toolPrefix: yoursFirst,
  allowInsecure: inOrder([true, false], false),
  allowPrivate: inOrder([true, false], false),
};

/** Of a server that you do not have: what you have set for all servers. */
const ANY_SERVER: Rules = {
  approval: perTool(inOrder(APPROVAL.modes)),
  pins: inOrder(PINS.modes),
  framing: inOrder(FRAMING.modes),
};

/** Where your prompts go: to a model provider of your name, or to a built-in one. */
const PROVIDER: Rules = { type: yours, baseUrl: yours };
const YOUR_PROVIDER: Rules = { ...PROVIDER, apiKey: yours };

/** The providers that are there without a configuration, and what they speak. */
const BUILT_IN: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  ollama: "openai-compatible",
};

const QUOTA: Rules = {
  callsPerMinute: atMost(),
  callsPerDay: atMost(),
  concurrentCalls: atMost(),
};

/** What would be looser with the file above than without it, at its place there. `file` is the one beneath. */
export function looserKeys(base: AgentLayers, over: AgentLayers, file: string): Issue[] {
  const ids = new Set([undefined, ...[base, over].flatMap(({ list }) => list.map(({ id }) => id))]);
  const found = [
    ...looserOfRoot(base, over),
    ...[...ids].flatMap((id) => looserOf(id, base, over)),
  ];
  // What is said about all agents is found with each of them.
  const unique = new Map(found.toReversed().map((each) => [formatPath(each.path), each]));
  return [...unique.values()].map(({ path, why, otherwise = "" }) =>
    atKey(path, `${why}; remove it here${otherwise}, or write it into your own file, ${file}`),
  );
}

/**
 * What holds for these keys of a server that is in both files. What the project does not say is as you have it, but no
 * looser than the default: its server may be another one.
 */
export function strictest<Of extends object>(
  mine: Of,
  theirs: Of,
  keys: readonly (keyof Of & keyof typeof SERVER)[],
): Partial<Of> {
  const held = keys.flatMap((key) => {
    const [one, other] = [mine[key], theirs[key]];
    if (one === undefined && other === undefined) return [];
    return [[key, SERVER[key]?.hold(one, other)] as const];
  });
  return Object.fromEntries(held) as Partial<Of>;
}

/** What is compared of the settings for servers of sessions. */
export const SESSION_KEYS = Object.keys(SERVER) as (keyof SessionDefaults)[];

interface Looser {
  path: KeyPath;
  /** What is wrong with it: completes a sentence that begins with the key. */
  why: string;
  otherwise?: string;
}

function looserOfRoot({ root: base }: AgentLayers, { root: over }: AgentLayers): Looser[] {
  const providers = over.models?.providers ?? {};
  const quotas = over.gateway?.quotas?.agents ?? {};
  return [
    ...looserIn(ROOT, (path) => valueIn(base, path), over, []),
    ...Object.entries(providers).flatMap(([name, provider]) => {
      const mine = ownEntry(base.models?.providers, name);
      const builtIn = ownEntry(BUILT_IN, name);
      if (mine === undefined && builtIn === undefined) return [];
      const rules = mine === undefined ? PROVIDER : YOUR_PROVIDER;
      const beneath = mine ?? { type: builtIn };
      const path = ["models", "providers", name];
      return looserIn(rules, (key) => valueIn(beneath, key), provider, path).map((each) => ({
        ...each,
        otherwise: ", give the provider a name of its own",
      }));
    }),
    ...Object.entries(quotas).flatMap(([agent, quota]) => {
      // A quota of an agent is in place of the general one.
      const mine = ownEntry(base.gateway?.quotas?.agents, agent) ?? base.gateway?.quotas;
      return looserIn(QUOTA, (key) => valueIn(mine, key), quota, [
        "gateway",
        "quotas",
        "agents",
        agent,
      ]);
    }),
  ];
}

function looserOf(id: string | undefined, base: AgentLayers, over: AgentLayers): Looser[] {
  const mine = layersOf(base, id);
  const theirs = layersOf(over, id);
  const general = generalOf(mine);
  const servers = new Map(
    mergeServers(base.defaults.servers, mine[1]?.servers).map(({ name, server }) => [name, server]),
  );
  const session = mergeSessionDefaults(
    mine.map(({ settings, path }) => ({ settings: settings.mcp?.session, path })),
  )?.settings;
  return theirs.flatMap((layer) => {
    // What the entry of an agent says comes in place of what is said for all.
    const isReplaced = (path: KeyPath): boolean =>
      layer !== theirs.at(-1) && valueIn(theirs.at(-1)?.settings, path) !== undefined;
    const ofAgent = looserIn(
      AGENT,
      (path) => lastIn(mine, path),
      layer.settings,
      layer.path,
      isReplaced,
    );
    const ofSessions = looserIn(
      SERVER,
      ([key]) => withGeneral(session, general, key),
      layer.settings.mcp?.session,
      [...layer.path, "mcp", "session"],
    );
    const ofServers = [...layer.servers.servers.values()].flatMap(({ name, plain, path }) => {
      const beneath = servers.get(name);
      return looserIn(
        beneath === undefined ? ANY_SERVER : SERVER,
        ([key]) => withGeneral(beneath, general, key),
        plain,
        path,
      ).map((each) =>
        beneath === undefined
          ? each
          : { ...each, otherwise: ", give the server a name of its own" },
      );
    });
    return [...ofAgent, ...ofSessions, ...ofServers];
  });
}

/** The keys of `over` that do not hold as they are. */
function looserIn(
  rules: Rules,
  mineAt: (path: KeyPath) => unknown,
  over: unknown,
  at: KeyPath,
  isReplaced: (path: KeyPath) => boolean = () => false,
): Looser[] {
  return Object.entries(rules).flatMap(([key, rule]) => {
    const path = key.split(".");
    const theirs = valueIn(over, path);
    if (theirs === undefined || isReplaced(path)) return [];
    const mine = mineAt(path);
    return isTaken(rule, mine, theirs)
      ? []
      : [{ path: [...at, ...path], why: reason(rule, mine, theirs) }];
  });
}

function isTaken({ hold, takes }: Rule, mine: unknown, theirs: unknown): boolean {
  return takes?.(mine, theirs) ?? isDeepStrictEqual(hold(mine, theirs), theirs);
}

function reason({ unset, hold }: Rule, mine: unknown, theirs: unknown): string {
  if (hold === yoursFirst.hold) return "is not what your own file says";
  const isPlain = [mine ?? unset, theirs].every((each) => isWord(each));
  if (!isPlain) {
    return mine === undefined && unset === undefined
      ? "is for your own file to say"
      : "is looser than in your own file";
  }
  const shown = (value: unknown): string =>
    typeof value === "string" ? quote(value) : String(value);
  return mine === undefined
    ? `is ${shown(theirs)}, looser than ${shown(unset)}, which holds without it`
    : `is ${shown(theirs)}, looser than ${shown(mine)} in your own file`;
}

/** A number or one of a few words, which is no secret. */
function isWord(value: unknown): boolean {
  return typeof value === "string"
    ? /^[a-z]{1,12}$/.test(value)
    : ["number", "boolean"].includes(typeof value);
}

/** What is said for all agents, then what is said for this one. */
function layersOf({ defaults, list }: AgentLayers, id: string | undefined): AgentLayer[] {
  const own = id === undefined ? undefined : list.find((each) => each.id === id);
  return own === undefined ? [defaults] : [defaults, own];
}

function lastIn(layers: readonly AgentLayer[], path: KeyPath): unknown {
  return layers
    .map(({ settings }) => valueIn(settings, path))
    .findLast((value) => value !== undefined);
}

type General = Pick<PlainServer, "approval" | "pins" | "framing">;

/** What holds for the calls of all servers. */
function generalOf(layers: readonly AgentLayer[]): General {
  return {
    approval: lastIn(layers, ["tools", "approval"]) as General["approval"],
    pins: lastIn(layers, ["pins"]) as General["pins"],
    framing: lastIn(layers, ["framing"]) as General["framing"],
  };
}

function withGeneral(
  server: Partial<PlainServer> | undefined,
  general: General,
  key: string | number | undefined,
): unknown {
  const own = server?.[key as keyof PlainServer];
  if (key === "approval" && general.approval !== undefined) {
    return { ...asPerTool(general.approval), ...asPerTool(own) };
  }
  return own ?? general[key as keyof General];
}

function ownEntry<Value>(map: Record<string, Value> | undefined, key: string): Value | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
