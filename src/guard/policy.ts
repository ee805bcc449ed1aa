// Which tools an agent may call. Every layer of rules is a hurdle of its own: a tool is refused where any
// layer denies it, keeps it for the owner, or has an allow list that does not name it.

import { PlugboardError } from "../model/errors.ts";
import type { PlacedRules } from "../model/guard-settings.ts";
import type { StageFor, ToolSubject } from "../model/guard.ts";
import { oneLine } from "../util/text.ts";
import type { ServerGuards } from "./server-guards.ts";
import { agentPattern, serverPattern, type ToolPattern } from "./tool-pattern.ts";

export interface PolicySettings {
  /** Of the defaults, then of the agent. */
  rules?: readonly PlacedRules[];
  servers: ServerGuards;
  /** Whether the caller is the owner. */
  owner?: boolean;
}

type Verdict =
  | { kind: "allowed" }
  /** `rule` is for the audit, `reason` completes the sentence that begins with the tool's name. */
  | { kind: "refused"; rule: string; reason: string; hint?: string };

export interface Policy {
  /** Judged once per tool. What is refused is not to be listed. */
  judge: (subject: ToolSubject) => Verdict;
  stage: StageFor;
}

interface Layer {
  place: string;
  allow: ToolPattern[] | undefined;
  deny: ToolPattern[];
  ownerOnly: ToolPattern[] | true;
}

/** The layers that count for one tool. */
interface Hurdles {
  subject: ToolSubject;
  /** Those whose denials count. */
  denying: readonly Layer[];
  /** Those that can allow it, and must where they have a list. */
  allowing: readonly Layer[];
}

const ALLOWED: Verdict = { kind: "allowed" };

export function createPolicy({ rules = [], servers, owner = false }: PolicySettings): Policy {
  const agentLayers = rules.map((each) => toLayer(each, agentPattern));
  const compiled = new WeakMap<readonly PlacedRules[], Layer[]>();
  const verdicts = new WeakMap<ToolSubject, Verdict>();

  function serverLayers(of: readonly PlacedRules[] | undefined): readonly Layer[] {
    if (of === undefined) return [];
    const known = compiled.get(of);
    if (known !== undefined) return known;
    const layers = of.map((each) => toLayer(each, serverPattern));
    compiled.set(of, layers);
    return layers;
  }

  function decide(subject: ToolSubject): Verdict {
    const own = serverLayers(servers.own(subject).rules);
    const shadowed = serverLayers(servers.shadowed(subject).rules);
    const hurdles: Hurdles = {
      subject,
      denying: [...agentLayers, ...shadowed, ...own],
      allowing: [...agentLayers, ...own],
    };
    return (
      denial(hurdles) ?? (owner ? undefined : reserve(hurdles)) ?? omission(hurdles) ?? ALLOWED
    );
  }

  function judge(subject: ToolSubject): Verdict {
    const known = verdicts.get(subject);
    if (known !== undefined) return known;
    const verdict = decide(subject);
    verdicts.set(subject, verdict);
    return verdict;
  }

  return {
    judge,
    stage(subject) {
      const verdict = judge(subject);
      if (verdict.kind === "allowed") return undefined;
      const { rule, reason, hint } = verdict;
      return async (call) => {
        call.decision = { verdict: "refused", rule };
        throw new PlugboardError(
          "REFUSED_BY_POLICY",
          `${oneLine(subject.canonical, 200)} is ${reason}`,
          { permanent: true, ...serverOf(subject), ...(hint !== undefined && { hint }) },
        );
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

function denial({ subject, denying }: Hurdles): Verdict | undefined {
  for (const { place, deny } of denying) {
    const match = deny.find((pattern) => pattern.matches(subject));
    if (match === undefined) continue;
    const rule = ruleIn(match, `${place}.deny`);
    return { kind: "refused", rule, reason: `refused by the rule ${rule}` };
  }
  return undefined;
}

function reserve({ subject, denying }: Hurdles): Verdict | undefined {
  if (subject.ownerOnly) return forOwner("the tool's own ownerOnly");
  for (const { place, ownerOnly } of denying) {
    const setting = `${place}.ownerOnly`;
    if (ownerOnly === true) return forOwner(setting);
    const match = ownerOnly.find((pattern) => pattern.matches(subject));
    if (match !== undefined) return forOwner(ruleIn(match, setting));
  }
  return undefined;
}

function forOwner(rule: string): Verdict {
  return {
    kind: "refused",
    rule,
    reason: `only for the owner, by ${rule}`,
    hint: "the owner calls it with --owner, or `owner: true` in code",
  };
}

function omission({ subject, allowing }: Hurdles): Verdict | undefined {
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

function serverOf({ source }: ToolSubject): { server?: string } {
  return source.kind === "mcp" ? { server: source.server } : {};
}
