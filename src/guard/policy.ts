// Decides which tools an agent may call. A tool must pass every layer of rules: it is refused if any layer
// denies it, reserves it for the owner, or has an allow list that does not name it.

import { PlugboardError } from "../model/errors.ts";
import type { PlacedRules } from "../model/guard-settings.ts";
import type { StageFor, ToolSubject } from "../model/guard.ts";
import { compileGlob } from "../util/glob.ts";
import { oneLine } from "../util/text.ts";
import type { ServerGuards } from "./server-guards.ts";

export interface PolicySettings {
  /** The rules of the defaults, then those of the agent. */
  rules?: readonly PlacedRules[];
  servers: ServerGuards;
  /** Whether the caller is the owner. */
  owner?: boolean;
}

type PolicyDecision =
  | { kind: "allowed" }
  /** `rule` is for the audit; `reason` completes a sentence that begins with the tool's name. */
  | { kind: "refused"; rule: string; reason: string; hint?: string };

export interface Policy {
  /** Decided once per tool. A refused tool is not listed either. */
  judge: (subject: ToolSubject) => PolicyDecision;
  stage: StageFor;
}

/** Which tools a rule is about. */
interface ToolPattern {
  /** As written in the configuration. */
  text: string;
  matches(subject: ToolSubject): boolean;
  /** It does not name a server. Only such a pattern can allow a tool of a session's own server. */
  isForAnyServer: boolean;
}

interface Layer {
  place: string;
  allow: ToolPattern[] | undefined;
  deny: ToolPattern[];
  ownerOnly: ToolPattern[] | true;
}

/** The layers that apply to one tool. */
interface ApplicableLayers {
  subject: ToolSubject;
  /** Layers that can deny it or reserve it. */
  denying: readonly Layer[];
  /** Layers whose allow list, if they have one, must name it. */
  allowing: readonly Layer[];
}

const ALLOWED: PolicyDecision = { kind: "allowed" };

export function createPolicy({ rules = [], servers, owner = false }: PolicySettings): Policy {
  const agentLayers = rules.map((each) => toLayer(each, agentPattern));
  const compiled = new WeakMap<readonly PlacedRules[], Layer[]>();
  const decisions = new WeakMap<ToolSubject, PolicyDecision>();

  function serverLayers(of: readonly PlacedRules[] | undefined): readonly Layer[] {
    if (of === undefined) return [];
    const known = compiled.get(of);
    if (known !== undefined) return known;
    const layers = of.map((each) => toLayer(each, serverPattern));
    compiled.set(of, layers);
    return layers;
  }

  function decide(subject: ToolSubject): PolicyDecision {
    const own = serverLayers(servers.own(subject).rules);
    const shadowed = serverLayers(servers.shadowed(subject).rules);
    const layers: ApplicableLayers = {
      subject,
      denying: [...agentLayers, ...shadowed, ...own],
      allowing: [...agentLayers, ...own],
    };
    return denial(layers) ?? (owner ? undefined : reserve(layers)) ?? omission(layers) ?? ALLOWED;
  }

  function judge(subject: ToolSubject): PolicyDecision {
    const known = decisions.get(subject);
    if (known !== undefined) return known;
    const decision = decide(subject);
    decisions.set(subject, decision);
    return decision;
  }

  return {
    judge,
    stage(subject) {
      const decision = judge(subject);
      if (decision.kind === "allowed") return undefined;
      const { rule, reason, hint } = decision;
      const { source } = subject;
      return async (call) => {
        call.decision = { verdict: "refused", rule };
        const message = `${oneLine(subject.canonical, 200)} is ${reason}`;
        const server = source.kind === "mcp" ? source.server : undefined;
        throw new PlugboardError("REFUSED_BY_POLICY", message, { permanent: true, server, hint });
      };
    },
  };
}

function toLayer(rules: PlacedRules, compile: (text: string) => ToolPattern): Layer {
  const { place, allow, deny = [], ownerOnly = [] } = rules;
  return {
    place,
    allow: allow?.map(compile),
    deny: deny.map(compile),
    ownerOnly: typeof ownerOnly === "boolean" ? ownerOnly || [] : ownerOnly.map(compile),
  };
}

function denial({ subject, denying }: ApplicableLayers): PolicyDecision | undefined {
  for (const { place, deny } of denying) {
    const match = deny.find((pattern) => pattern.matches(subject));
    if (match === undefined) continue;
    const rule = ruleIn(match, `${place}.deny`);
    return { kind: "refused", rule, reason: `refused by the rule ${rule}` };
  }
  return undefined;
}

function reserve({ subject, denying }: ApplicableLayers): PolicyDecision | undefined {
  if (subject.ownerOnly) return forOwner("the tool's own ownerOnly");
  for (const { place, ownerOnly } of denying) {
    const setting = `${place}.ownerOnly`;
    if (ownerOnly === true) return forOwner(setting);
    const match = ownerOnly.find((pattern) => pattern.matches(subject));
    if (match !== undefined) return forOwner(ruleIn(match, setting));
  }
  return undefined;
}

function forOwner(rule: string): PolicyDecision {
  return {
    kind: "refused",
    rule,
    reason: `reserved for the owner by ${rule}`,
    hint: "if you are the owner, use --owner; in code, set owner: true",
  };
}

function omission({ subject, allowing }: ApplicableLayers): PolicyDecision | undefined {
  const isOfSession = subject.origin === "session";
  for (const { place, allow } of allowing) {
    if (allow === undefined) continue;
    const matching = allow.filter((pattern) => pattern.matches(subject));
    if (matching.some(({ isForAnyServer }) => isForAnyServer || !isOfSession)) continue;
    const rule = `${place}.allow`;
    const [wasted] = matching;
    const reason =
      wasted === undefined
        ? `refused: nothing in ${rule} allows it`
        : `refused: the rule ${ruleIn(wasted, rule)} is for the configured server, not for one of a session`;
    return { kind: "refused", rule, reason };
  }
  return undefined;
}

/** `"docs/write_*" in agents.defaults.tools.deny` */
function ruleIn({ text }: ToolPattern, setting: string): string {
  return `"${oneLine(text, 200)}" in ${setting}`;
}

/** In the rules of an agent: `server/tool`, `native/tool`, or a public name, which has no slash. */
function agentPattern(text: string): ToolPattern {
  const slash = text.indexOf("/");
  if (slash === -1) {
    const matches = compileGlob(text);
    return {
      text,
      matches: ({ publicName }) => matches(publicName),
      isForAnyServer: /^\*+$/.test(text),
    };
  }
  // Matched separately, so that a slash in a tool's name cannot make it pass for a tool of another server.
  const server = compileGlob(text.slice(0, slash));
  const tool = compileGlob(text.slice(slash + 1));
  return {
    text,
    matches: (subject) => server(serverPart(subject)) && tool(toolPart(subject)),
    isForAnyServer: /^\*+$/.test(text.slice(0, slash)),
  };
}

/** In the rules of a server: the tool's own name, or any name that a rule of an agent could have for it. */
function serverPattern(text: string): ToolPattern {
  const own = compileGlob(text);
  const full = agentPattern(text);
  return {
    text,
    matches: (subject) => own(toolPart(subject)) || full.matches(subject),
    isForAnyServer: true,
  };
}

function serverPart({ source }: ToolSubject): string {
  return source.kind === "mcp" ? source.server : "native";
}

function toolPart({ source, canonical }: ToolSubject): string {
  return source.kind === "mcp" ? source.tool : canonical.slice("native/".length);
}
