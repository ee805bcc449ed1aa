// Finds rules, and settings for single tools, that match no tool; for those about resources or prompts, nothing that
// a server lists. Such a rule looks just like one that works, and does not stop what it should stop.

import type { PlacedRules, ServerGuard, UnmatchedRule } from "../types/guard-settings.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import {
  type KnownNames,
  permittingPattern,
  permittingPatternOfServer,
  restrictingPattern,
  serversNamedBy,
  type ToolName,
  type ToolPattern,
} from "../types/tool-pattern.ts";
import { closest, nearness } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";

export interface UnmatchedRulesOptions {
  /** The rules of the defaults, then those of the agent. */
  rules: readonly PlacedRules[];
  servers: readonly Pick<ServerDefinition, "name" | "enabled" | "guard" | "include">[];
  known: KnownNames;
}

/** The tools, resources and prompts at the time when the rules are compared with them. */
export interface KnownTools {
  /** All tools, also those that are not listed, and the known resources, templates and prompts. */
  tools: readonly ToolName[];
  /** Whether the server has listed its tools, resources or prompts. */
  isListed: (server: string, kind: ToolPattern["kind"]) => boolean;
}

interface Rule extends ToolPattern {
  /** `agents.defaults.tools.deny` */
  setting: string;
  restricts: boolean;
  /** Names of the servers it is about; undefined for any. */
  servers: readonly string[] | undefined;
  /** The server whose settings it is in. */
  owner?: string;
  couldMean?: readonly string[];
}

/** Bounds the search for the nearest name. */
const MOST_TOOLS = 1000;

export class UnmatchedRules {
  readonly #options: UnmatchedRulesOptions;
  /** The rules that have matched no tool so far. A rule that has matched once is forgotten. */
  #rules: Rule[];

  constructor(options: UnmatchedRulesOptions) {
    const { rules, servers, known } = options;
    this.#options = options;
    const all: Rule[] = [
      ...rules.flatMap((each) => agentRules(each, known)),
      ...servers.flatMap(({ name, guard, include }) => [
        ...(guard?.rules ?? []).flatMap((each) => serverRules(each, name)),
        ...exceptions({ ...guard, include }, name),
      ]),
    ];
    // That nothing is destructive is no mistake.
    this.#rules = all.filter(({ restricts, isByEffect = false }) => !(restricts && isByEffect));
  }

  /** Whether every rule has matched, so that there is nothing to find. */
  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The rules that match nothing, as far as the tools of their servers are known. */
  find({ tools, isListed }: KnownTools): UnmatchedRule[] {
    this.#rules = this.#rules.filter(
      ({ owner, matches, couldMatch = matches }) =>
        !tools.some(
          (name) =>
            (owner === undefined || owner === name.server) && (matches(name) || couldMatch(name)),
        ),
    );
    const names = this.#options.known.servers.map(({ name }) => name);
    return this.#rules
      .filter((rule) => (rule.couldMean?.length ?? 0) > 0 || this.#isDecided(rule, isListed))
      .map((rule) => describe(rule, tools, names));
  }

  #isDecided({ servers, kind }: Rule, isListed: KnownTools["isListed"]): boolean {
    if (servers !== undefined) return servers.every((server) => isListed(server, kind));
    // Servers that are left out, and those of sessions, may have such a tool.
    const enabled = this.#options.servers.filter((each) => each.enabled);
    const isWhole = this.#options.known.servers.length === this.#options.servers.length;
    return isWhole && enabled.length > 0 && enabled.every(({ name }) => isListed(name, kind));
  }
}

function agentRules({ place, allow, deny, ownerOnly }: PlacedRules, known: KnownNames): Rule[] {
  const serversIn = (text: string, restricts: boolean): string[] | undefined =>
    serversNamedBy(text, known, restricts)?.map(({ name }) => name);
  const restricting = (setting: string, texts: readonly string[]): Rule[] =>
    texts.map((text) => ({
      ...restrictingPattern(text, "agent"),
      setting: `${place}.${setting}`,
      restricts: true,
      servers: serversIn(text, true),
    }));
  return [
    ...(allow ?? []).map((text) => ({
      ...permittingPattern(text, known),
      setting: `${place}.allow`,
      restricts: false,
      servers: serversIn(text, false),
    })),
    ...restricting("deny", deny ?? []),
    ...restricting("ownerOnly", Array.isArray(ownerOnly) ? ownerOnly : []),
  ];
}

function serverRules({ place, allow, deny, ownerOnly }: PlacedRules, owner: string): Rule[] {
  return [
    ...ofServer(owner, `${place}.allow`, allow, false),
    ...ofServer(owner, `${place}.deny`, deny, true),
    ...ofServer(owner, `${place}.ownerOnly`, Array.isArray(ownerOnly) ? ownerOnly : [], true),
  ];
}

/** Values that take nothing away. */
const PERMITTING: ReadonlySet<unknown> = new Set(["never", false, "always", "agent"]);

function exceptions(
  settings: Pick<ServerGuard, "approval" | "rateLimit" | "concurrency"> &
    Pick<ServerDefinition, "include">,
  owner: string,
): Rule[] {
  return (["approval", "rateLimit", "concurrency", "include"] as const).flatMap((key) =>
    Object.entries<unknown>(settings[key]?.tools ?? {}).flatMap(([text, value]) =>
      ofServer(owner, `${key}.tools of ${owner}`, [text], !PERMITTING.has(value)),
    ),
  );
}

function ofServer(
  owner: string,
  setting: string,
  texts: readonly string[] = [],
  restricts: boolean,
): Rule[] {
  return texts.map((text) => {
    const pattern = restricts
      ? restrictingPattern(text, "server")
      : permittingPatternOfServer(text);
    return { ...pattern, setting, restricts, servers: [owner], owner };
  });
}

function describe(
  rule: Rule,
  tools: readonly ToolName[],
  serverNames: readonly string[],
): UnmatchedRule {
  const { text, setting, restricts, servers, couldMean = [] } = rule;
  const common = { rule: text, setting, restricts, servers };
  if (couldMean.length > 0) {
    const meanings = couldMean.map((each) => oneLine(each, 200)).join(" or ");
    const problem = `allows nothing, because it could mean ${meanings}; write the one you mean`;
    return { ...common, problem };
  }
  const nearest = rule.isByEffect
    ? undefined
    : (nearestServer(rule, serverNames) ?? nearestKind(rule) ?? nearestTool(rule, tools));
  const why = servers?.length === 0 ? ": there is no such server" : "";
  const question = nearest === undefined ? "" : `; did you mean ${oneLine(nearest, 200)}?`;
  return {
    ...common,
    nearest,
    problem: `${matchesNo(rule)}${why}${question}`,
  };
}

/** Servers need not list all that can be read from them. */
function matchesNo({ kind, servers, isByEffect }: Rule): string {
  if (isByEffect) return "matches no tool whose pinned definition says that it only reads";
  if (kind === "tool") return "matches no tool";
  return servers?.length === 0 ? `matches no ${kind}` : `matches no ${kind} that a server lists`;
}

/** For a rule that names a server alone, or one that does not exist. */
function nearestServer(
  { text, servers, owner, kind }: Rule,
  names: readonly string[],
): string | undefined {
  const slash = text.indexOf("/");
  if (owner !== undefined || (kind !== "tool" && servers === undefined)) return undefined;
  if (slash === -1) {
    const name = text.replace(/\*+$/, "");
    return names.includes(name) ? `${name}/*` : undefined;
  }
  if (servers?.length !== 0) return undefined;
  const meant = closest(text.slice(0, slash), names);
  return meant === undefined ? undefined : `${meant}${text.slice(slash)}`;
}

/** How many letters may be wrong in `resource:` or `prompt:`. */
const MOST_TYPOS = 2;

/** `resources:*`, and a URI alone, are about tools, and so restrict no resource. */
function nearestKind({ text, kind }: Rule): string | undefined {
  const [, server = "", word = "", rest = ""] =
    /^((?:[^/]+\/)?)([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
  if (kind !== "tool" || word === "") return undefined;
  if (rest.startsWith("//")) return `${server}resource:${word}:${rest}`;
  const meant = ["resource", "prompt"].find((each) => nearness(word, each) <= MOST_TYPOS);
  return meant && `${server}${meant}:${rest}`;
}

/** As it would be written in the same place: `server/tool`, or the tool's own name in the settings of its server. */
function nearestTool({ text, owner, kind }: Rule, tools: readonly ToolName[]): string | undefined {
  const wanted = text.replaceAll("*", "");
  // `files/wirte_*` is compared with names of its own length.
  const length = text.endsWith("*") ? wanted.length : Infinity;
  const own = new Map<string, string>();
  const full = new Map<string, string>();
  const alike = tools.filter(({ content }) => (content?.kind ?? "tool") === kind);
  for (const { server, tool, publicName } of alike.slice(0, MOST_TOOLS)) {
    if (owner !== undefined && owner !== server) continue;
    const shown = owner === undefined ? `${server}/${tool}` : tool;
    own.set(tool.slice(0, length), shown);
    for (const name of [`${server}/${tool}`, `mcp_${server}_${tool}`, publicName]) {
      full.set(name.slice(0, length), shown);
    }
  }
  const nearest = (word: string, names: ReadonlyMap<string, string>): string | undefined =>
    names.get(closest(word, names.keys()) ?? "");
  const inFull = nearest(wanted, full);
  return inFull ?? nearest(wanted.slice(wanted.indexOf("/") + 1), own);
}
