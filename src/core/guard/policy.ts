// Decides which tools an agent may call, and which resources and prompts it may read. Each must pass every layer of
// rules: it is refused if any layer denies it, reserves it for the owner, or has an allow list that does not name it.
// What a tool does can change while the board runs, so rules about that (`@readOnly`) are applied anew with every call.
// An allow list of the configuration is always about tools. It is about resources only if one of its patterns is, and so
// for prompts. The lists of tokens and sessions are about all that a server has.

import type { SessionRules } from "../types/board-options.ts";
import { PlugboardError } from "../types/errors.ts";
import type { PlacedRules, ServerGuard } from "../types/guard-settings.ts";
import type { GuardedCall, StageFor, Subject } from "../types/guard.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import {
  type KnownNames,
  permittingPattern,
  permittingPatternOfServer,
  type PermittingPattern,
  restrictingPattern,
  type ToolEffect,
  toolName,
  type ToolName,
  type ToolPattern,
} from "../types/tool-pattern.ts";
import { oneLine, sayTool } from "../../util/text.ts";
import type { ServerGuards } from "./server-guards.ts";

export interface PolicySettings {
  /** The rules of the defaults, then those of the agent. */
  rules?: readonly PlacedRules[];
  servers: ServerGuards;
  /** The names that the rules of the agent may contain. */
  known: KnownNames;
  /** Whether the caller is the owner. */
  owner?: boolean;
  /** What a tool may do, as it is known now. Default: anything. */
  effectOf?: (subject: Subject) => ToolEffect;
  /** Finds out what the tool does now, before its call is refused because of that. */
  lookAgain?: (call: GuardedCall) => Promise<void> | undefined;
  /** The tools of a server whose app a `ui://` resource is. Default: none. */
  showing?: (server: string, uri: string) => readonly Subject[];
  /** Whether users of the board are not told of a server of which any rules leave nothing. Default false. */
  hidesRefused?: boolean;
}

/** A server as lists see it. */
export type ReachedServer = Pick<ServerDefinition, "name" | "toolPrefix" | "origin">;

/** Whether rules leave something of a server: of this kind, or anything at all. It may turn out that the server has none. */
export type Reach = (server: ReachedServer, kind?: ToolPattern["kind"]) => boolean;

type PolicyDecision =
  | { kind: "allowed" }
  /** `rule` is for the audit; `reason` completes a sentence that begins with the tool's name. */
  | { kind: "refused"; rule: string; reason: string; hint?: string };

export interface Policy {
  /** The subject as rules see it now. */
  nameOf: (subject: Subject) => ToolName;
  /** A refused tool is not listed either. */
  judge: (subject: Subject) => PolicyDecision;
  /** Throws REFUSED_BY_POLICY if the subject may not be called now. */
  require: (subject: Subject, call: GuardedCall) => void;
  /** Whether a rule, or the tool itself, keeps it for the owner. */
  isForOwner: (subject: Subject) => boolean;
  /** What all rules leave. */
  leaves: Reach;
  /** Whether users of the board are told of the server. */
  reaches: Reach;
  stage: StageFor;
}

type AllowPattern = ToolPattern & Pick<PermittingPattern, "isForAnyServer" | "isOn">;

interface Layer {
  place: string;
  coversContent: boolean;
  allow: AllowPattern[] | undefined;
  deny: ToolPattern[];
  ownerOnly: ToolPattern[] | true;
  goesByEffect: boolean;
}

/** The layers that apply to one tool. */
interface ApplicableLayers {
  subject: Subject;
  name: ToolName;
  /** Layers that can deny it or reserve it. */
  denying: readonly Layer[];
  /** Layers whose allow list, if they have one, must name it. */
  allowing: readonly Layer[];
  /** It is the app of a tool that may be called. */
  isApp: () => boolean;
}

/** What an allowed tool shows goes with it, whatever the list says about resources. */
const APP_SCHEME = "ui://";

const ALLOWED: PolicyDecision = { kind: "allowed" };

export function createPolicy({
  rules = [],
  servers,
  known,
  owner = false,
  effectOf,
  lookAgain = () => undefined,
  showing = () => [],
  hidesRefused = false,
}: PolicySettings): Policy {
  const agentLayers = rules.map((each) => agentLayer(each, known));
  const leaves = reachOf({ rules, servers, known, owner });
  const compiled = new WeakMap<readonly PlacedRules[], Layer[]>();
  const decisions = new WeakMap<Subject, PolicyDecision>();

  function serverLayers(of: readonly PlacedRules[] | undefined): readonly Layer[] {
    if (of === undefined) return [];
    const earlier = compiled.get(of);
    if (earlier !== undefined) return earlier;
    const layers = of.map(serverLayer);
    compiled.set(of, layers);
    return layers;
  }

  function denyingLayers(subject: Subject): readonly Layer[] {
    const shadowed = serverLayers(servers.shadowed(subject).rules);
    return [...agentLayers, ...shadowed, ...serverLayers(servers.own(subject).rules)];
  }

  function goesByEffect(subject: Subject): boolean {
    return (
      subject.content === undefined && denyingLayers(subject).some((each) => each.goesByEffect)
    );
  }

  function nameOf(subject: Subject): ToolName {
    const name = toolName(subject);
    return goesByEffect(subject) ? { ...name, effect: effectOf?.(subject) } : name;
  }

  function layersOf(subject: Subject): ApplicableLayers {
    const own = serverLayers(servers.own(subject).rules);
    return {
      subject,
      name: nameOf(subject),
      denying: denyingLayers(subject),
      allowing: [...agentLayers, ...own],
      isApp: () => isAppOfAllowed(subject),
    };
  }

  function isAppOfAllowed({ source, content }: Subject): boolean {
    if (source.kind !== "mcp" || content?.kind !== "resource") return false;
    if (!content.name.startsWith(APP_SCHEME)) return false;
    return showing(source.server, content.name).some((tool) => judge(tool).kind === "allowed");
  }

  function decide(subject: Subject): PolicyDecision {
    const layers = layersOf(subject);
    return denial(layers) ?? (owner ? undefined : reserve(layers)) ?? omission(layers) ?? ALLOWED;
  }

  function judge(subject: Subject): PolicyDecision {
    const earlier = decisions.get(subject);
    if (earlier !== undefined) return earlier;
    const decision = decide(subject);
    if (!goesByEffect(subject)) decisions.set(subject, decision);
    return decision;
  }

  function require(subject: Subject, call: GuardedCall): undefined {
    const decision = judge(subject);
    if (decision.kind === "allowed") return;
    const { rule, reason, hint } = decision;
    const { source } = subject;
    call.decision = { verdict: "refused", rule };
    const message = `${sayTool(subject.canonical)} is ${reason}`;
    const server = source.kind === "mcp" ? source.server : undefined;
    throw new PlugboardError("REFUSED_BY_POLICY", message, { permanent: true, server, hint });
  }

  return {
    nameOf,
    judge,
    require,
    isForOwner: (subject) => reserve(layersOf(subject)) !== undefined,
    leaves,
    reaches: hidesRefused ? leaves : toldOf({ rules, known }),
    stage(subject) {
      if (!goesByEffect(subject)) {
        return judge(subject).kind === "allowed"
          ? undefined
          : { name: "rules", before: (call) => require(subject, call) };
      }
      return {
        name: "rules",
        before(call) {
          if (judge(subject).kind === "allowed") return undefined;
          const looking = lookAgain(call);
          return looking ? looking.then(() => require(subject, call)) : require(subject, call);
        },
      };
    },
  };
}

const ALL_KINDS = ["tool", "resource", "prompt"] as const;

type ReachSettings = Pick<PolicySettings, "rules" | "known" | "owner"> & { servers?: ServerGuards };

/**
 * What users are told of who see what the configuration takes from them: a refusal names the rule. The lists of a token or a
 * session hide from them what these take.
 */
export function toldOf({ rules = [], known }: ReachSettings): Reach {
  return reachOf({ rules: rules.filter(({ coversContent }) => coversContent), known });
}

/** What all rules leave. Without rules, that is everything. */
export function reachOf({ rules = [], servers, known, owner = false }: ReachSettings): Reach {
  if (rules.length === 0 && servers === undefined) return () => true;
  // Most boards never ask, and to read the patterns of long lists takes time.
  let ofAgent: readonly Layer[] | undefined;
  const compiled = new WeakMap<readonly PlacedRules[], Layer[]>();
  const layersOf = ({ rules: of }: ServerGuard = {}): Layer[] => {
    if (of === undefined) return [];
    const layers = compiled.get(of) ?? of.map(serverLayer);
    compiled.set(of, layers);
    return layers;
  };
  return (server, kind) => {
    const { name, toolPrefix, origin } = server;
    const source = { kind: "mcp", server: name, tool: "" } as const;
    const own = layersOf(servers?.own({ source, origin }));
    const shadowed = layersOf(servers?.shadowed({ source, origin }));
    const of = toolName({ source, publicName: "", toolPrefix });
    const agent = (ofAgent ??= rules.map((each) => agentLayer(each, known)));
    return (kind === undefined ? ALL_KINDS : [kind]).some(
      (each) =>
        ![...agent, ...shadowed, ...own].some((layer) => takesAll(layer, of, each, owner)) &&
        [...agent, ...own].every((layer) => namesSome(layer, of, each, origin)),
    );
  };
}

/** Whether a layer denies all that a server has of a kind, or reserves it for an owner who does not ask. */
function takesAll(
  layer: Layer,
  name: ToolName,
  kind: ToolPattern["kind"],
  owner: boolean,
): boolean {
  const { deny, ownerOnly } = layer;
  const isAll = (each: ToolPattern): boolean => each.meansAllOf?.(name) === true;
  if (deny.some((each) => isAll(each) && isAbout(each, kind, layer))) return true;
  if (owner) return false;
  return ownerOnly === true
    ? kind === "tool"
    : ownerOnly.some((each) => isAll(each) && each.kind === kind);
}

/** Whether the allow list of a layer, if it has one for the kind, names something that a server could have. */
function namesSome(
  layer: Layer,
  name: ToolName,
  kind: ToolPattern["kind"],
  origin: ReachedServer["origin"],
): boolean {
  const { allow, coversContent } = layer;
  if (allow === undefined) return true;
  if (!coversContent && kind !== "tool" && allow.every((each) => each.kind !== kind)) return true;
  return allow.some(
    (each) =>
      (each.kind === kind || (each.meansAllOf?.(name) === true && isAbout(each, kind, layer))) &&
      each.isOn(name) &&
      (each.isForAnyServer || origin !== "session"),
  );
}

/** Whether a pattern that means all of its kind means this kind. In a list that covers content, `docs/*` is about all kinds. */
function isAbout(
  pattern: ToolPattern,
  kind: ToolPattern["kind"],
  { coversContent }: Pick<Layer, "coversContent">,
): boolean {
  return pattern.kind === kind || (coversContent && pattern.kind === "tool");
}

/** The lists of a token or a session, which cover all that a server has. */
export function placedRules({
  place = "the session's tools",
  allow,
  deny,
}: SessionRules): PlacedRules {
  return {
    place,
    coversContent: true,
    ...(allow !== undefined && { allow: [...allow] }),
    ...(deny !== undefined && { deny: [...deny] }),
  };
}

function agentLayer(rules: PlacedRules, known: KnownNames): Layer {
  return toLayer(rules, {
    allow: (text) => permittingPattern(text, known),
    restrict: (text) => restrictingPattern(text, "agent"),
  });
}

/** In the rules of a server: the tool's own name, or any name that a rule of an agent could have for it. */
function serverLayer(rules: PlacedRules): Layer {
  return toLayer(rules, {
    allow: (text) => ({
      ...permittingPatternOfServer(text),
      isForAnyServer: true,
      isOn: () => true,
    }),
    restrict: (text) => restrictingPattern(text, "server"),
  });
}

function toLayer(
  rules: PlacedRules,
  to: { allow: (text: string) => AllowPattern; restrict: (text: string) => ToolPattern },
): Layer {
  const { place, coversContent = false, allow, deny = [], ownerOnly = [] } = rules;
  const layer = {
    place,
    coversContent,
    allow: allow?.map(to.allow),
    deny: deny.map(to.restrict),
    ownerOnly: typeof ownerOnly === "boolean" ? ownerOnly || [] : ownerOnly.map(to.restrict),
  };
  const patterns = [...(layer.allow ?? []), ...layer.deny, ...arrayOf(layer.ownerOnly)];
  return { ...layer, goesByEffect: patterns.some(({ isByEffect = false }) => isByEffect) };
}

function arrayOf(ownerOnly: Layer["ownerOnly"]): ToolPattern[] {
  return ownerOnly === true ? [] : ownerOnly;
}

function denial({ name, denying }: ApplicableLayers): PolicyDecision | undefined {
  for (const layer of denying) {
    const { place, deny } = layer;
    const match = deny.find(
      (pattern) => pattern.matches(name) || takesContent(pattern, name, layer),
    );
    if (match === undefined) continue;
    const rule = ruleIn(match, `${place}.deny`);
    return { kind: "refused", rule, reason: `refused by the rule ${rule}${why(match, name)}` };
  }
  return undefined;
}

function reserve({ subject, name, denying }: ApplicableLayers): PolicyDecision | undefined {
  if (subject.ownerOnly) return forOwner("the tool's own ownerOnly");
  for (const { place, ownerOnly } of denying) {
    const setting = `${place}.ownerOnly`;
    if (ownerOnly === true) {
      if (subject.content === undefined) return forOwner(setting);
      continue;
    }
    const match = ownerOnly.find((pattern) => pattern.matches(name));
    if (match !== undefined) return forOwner(ruleIn(match, setting), why(match, name));
  }
  return undefined;
}

/** Why a rule about what tools do means this one. */
function why({ isByEffect }: ToolPattern, { effect }: ToolName): string {
  const reason = isByEffect && effect?.mayDestroy;
  return reason ? `, because ${reason}` : "";
}

function forOwner(rule: string, because = ""): PolicyDecision {
  return {
    kind: "refused",
    rule,
    reason: `reserved for the owner by ${rule}${because}`,
    hint: "if you are the owner, use --owner; in an editor, set acp.owner in your own file; in code, owner: true",
  };
}

/** Whether a list that covers content has the content with all else of its server. */
function takesContent(
  { kind, meansAllOf }: ToolPattern,
  name: ToolName,
  { coversContent }: Layer,
): boolean {
  return (
    coversContent && kind === "tool" && name.content !== undefined && meansAllOf?.(name) === true
  );
}

function omission(layers: ApplicableLayers): PolicyDecision | undefined {
  const { subject, name, allowing, isApp } = layers;
  if (subject.passesAllowLists) return undefined;
  const isOfSession = subject.origin === "session";
  for (const layer of allowing) {
    const { place, allow, coversContent } = layer;
    if (allow === undefined) continue;
    const { content } = subject;
    const isAboutIt =
      coversContent || content === undefined || allow.some(({ kind }) => kind === content.kind);
    if (!isAboutIt || (coversContent && isApp())) continue;
    const matching = allow.filter(
      (pattern) => pattern.matches(name) || takesContent(pattern, name, layer),
    );
    if (matching.some(({ isForAnyServer }) => isForAnyServer || !isOfSession)) continue;
    const rule = `${place}.allow`;
    const [wasted] = matching;
    const byEffect = allow.find(({ isByEffect }) => isByEffect);
    const reason =
      wasted !== undefined
        ? `refused: the rule ${ruleIn(wasted, rule)} is for the configured server, not for one of a session`
        : byEffect !== undefined && content === undefined && name.effect?.mayWrite !== undefined
          ? `refused: nothing in ${rule} allows it, and ${quoted(byEffect)} does not because ${name.effect.mayWrite}`
          : `refused: nothing in ${rule} allows it`;
    return { kind: "refused", rule, reason };
  }
  return undefined;
}

/** `"docs/write_*" in agents.defaults.tools.deny` */
function ruleIn(pattern: ToolPattern, setting: string): string {
  return `${quoted(pattern)} in ${setting}`;
}

function quoted({ text }: ToolPattern): string {
  return `"${oneLine(text, 200)}"`;
}
