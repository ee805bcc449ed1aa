// Finds patterns of tokens that match nothing, the way rules of the configuration are found that match nothing.

import { loadGateway } from "../../core/config/gateway.ts";
import { problemAndConsequence } from "../../core/board/rules.ts";
import type { PlacedRules, UnmatchedRule } from "../../core/types/guard-settings.ts";
import type { GatewayToken } from "../../core/types/shared-state.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { withBoard } from "../open.ts";

type JudgedToken = Pick<GatewayToken, "id" | "name" | "agents" | "policy">;

export interface UnmatchedPattern extends Omit<UnmatchedRule, "setting"> {
  token: JudgedToken;
  option: "--allow" | "--deny";
}

/**
 * The patterns that match nothing on any agent that their token is for. Starts no server: what a server has is known from
 * earlier runs, or from the gateway that runs, and a server whose tools are not known yet may have what a pattern names.
 * Rejects if the configuration cannot be used.
 */
export async function unmatchedPatterns(
  tokens: readonly JudgedToken[],
  context: CliContext,
): Promise<UnmatchedPattern[]> {
  const judged = tokens.filter(({ policy }) => policy?.tools?.allow ?? policy?.tools?.deny);
  const source = findSource(context);
  if (judged.length === 0 || source.kind !== "file") return [];
  const { cwd, homedir } = context.io;
  const { agentIds } = await loadGateway(source.path, { cwd, homedir, base: source.base });
  const byAgent = new Map<string, readonly UnmatchedRule[]>();
  for (const id of agentIds) {
    const rules = judged.filter(isFor(id)).map(placedRules);
    if (rules.length > 0) byAgent.set(id, await unmatchedOn(id, rules, context));
  }
  return judged.flatMap((token) => {
    const [first = [], ...others] = agentIds
      .filter((id) => isFor(id)(token))
      .map((id) => byAgent.get(id) ?? []);
    return first.flatMap((unmatched): UnmatchedPattern[] => {
      const { setting, rule } = unmatched;
      const isSame = (other: UnmatchedRule): boolean =>
        other.setting === setting && other.rule === rule;
      const option = OPTIONS.find((each) => setting === `${token.id}.${each}`);
      if (option === undefined || !others.every((all) => all.some(isSame))) return [];
      return [{ ...unmatched, token, option: `--${option}` }];
    });
  });
}

/** As a sentence. */
export function unmatchedText(unmatched: UnmatchedPattern): string {
  const { rule, option } = unmatched;
  return `"${oneLine(rule, 200)}" in ${option} ${problemAndConsequence(unmatched)}`;
}

const OPTIONS = ["allow", "deny"] as const;

function isFor(agent: string): (token: JudgedToken) => boolean {
  return ({ agents = [] }) => agents.length === 0 || agents.includes(agent);
}

function placedRules({ id, policy }: JudgedToken): PlacedRules {
  const { allow, deny } = policy?.tools ?? {};
  return { place: id, ...(allow && { allow }), ...(deny && { deny }) };
}

/** On a board that has these rules alone, so that it finds no others. */
function unmatchedOn(
  agent: string,
  rules: PlacedRules[],
  context: CliContext,
): Promise<readonly UnmatchedRule[]> {
  const { options } = context;
  return withBoard(
    { ...context, options: { ...options, agent } },
    {
      start: "none",
      showsRules: true,
      showsUntrusted: true,
      adjust: (config) => ({ ...config, guard: { ...config.guard, rules } }),
    },
    async ({ board }) => board.unmatchedRules(),
  );
}
