// What is to be said about servers together: rules, settings and patterns of tokens and of JWTs' rights that match nothing,
// rules that leave a server without tools, tools that wait for your approval, doubles.

import { lostReason, lostRemedy, PinReview, pinsOf } from "../../core/board/pins.ts";
import { isPrecaution, problemAndConsequence } from "../../core/board/rules.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { diagnosticText } from "../../core/types/diagnostic.ts";
import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { oneLine, plural, shellWord } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { type OpenedBoard, withBoard } from "../open.ts";
import { entriesOf, pendingOf } from "../pins/target.ts";
import type { DoctorContext } from "./context.ts";
import { LiveConfig } from "../live-config.ts";
import { withSharedState } from "../shared-state.ts";
import { unmatchedPatterns, unmatchedText } from "../tokens/unmatched.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const rulesGroup: CheckGroup = {
  title: "Rules, pins and doubles",
  concernsServer: true,
  async run(context) {
    const attached = await context.gateway();
    if (attached !== undefined) return findOn(attached, context);
    const found = await context.config();
    // Another group has said why.
    if (found.kind !== "usable") return [];
    // The doctor has started each server by now, so the cache has the tools, and no server is started again.
    return withBoard(
      context.quiet,
      { start: "none", showsRules: true, standalone: true, loaded: found },
      (cached) => findOn(cached, context),
    );
  },
};

async function findOn({ board, agent }: OpenedBoard, context: DoctorContext): Promise<Finding[]> {
  const { server } = context;
  const isAsked = (names: readonly string[] | undefined): boolean =>
    server === undefined || names?.includes(server) === true;
  const unmatched = board.unmatchedRules().filter(({ servers }) => isAsked(servers));
  const statuses = board.status();
  const findings = [
    ...unmatched.map(unmatchedFinding),
    ...statuses
      .filter(({ name }) => isAsked([name]))
      .flatMap((status) => [...hiddenFindings(status, agent), ...doubleFindings(status)]),
    ...(await pinFindings(context, isAsked)),
    ...(await tokenFindings(context, isAsked)),
    ...(await rightFindings(context, isAsked)),
  ];
  const hasRules = (agent.guard?.rules ?? []).length > 0;
  const isUnsure = statuses.some(
    ({ state, cached, tools }) => !cached && state.kind !== "ready" && tools === 0,
  );
  if (findings.length > 0 || !hasRules || isUnsure) return findings;
  return [{ level: "ok", check: "rules", message: "every rule matches something" }];
}

function unmatchedFinding(unmatched: UnmatchedRule): Finding {
  const { rule, setting, problem, nearest } = unmatched;
  const isMeant = isPrecaution(unmatched);
  return {
    level: isMeant ? "note" : "warning",
    check: "rule-matches-nothing",
    subject: setting,
    message: `the rule "${oneLine(rule, 200)}" in ${setting} ${isMeant ? problem : problemAndConsequence(unmatched)}`,
    remedy:
      nearest === undefined
        ? "correct its name, or take it out if you no longer need it; to see the names: plugboard tools"
        : `write "${oneLine(nearest, 200)}" in its place, or take it out if you no longer need it`,
  };
}

/** Some tools that are hidden are what rules are for; all of them are rarely meant. */
function hiddenFindings(
  { name, tools, hiddenByRules = 0 }: ServerStatus,
  { servers, guard }: AgentConfig,
): Finding[] {
  if (tools > 0 || hiddenByRules === 0) return [];
  const own = servers.find((each) => each.name === name)?.guard;
  const rules = [...(guard?.rules ?? []), ...(own?.rules ?? [])];
  const isDoubted =
    own?.trusted !== true &&
    rules.some(({ deny = [] }) => deny.some((each) => each.endsWith("@destructive")));
  return [
    {
      level: "warning",
      check: "rules-hide-everything",
      subject: name,
      message: `the rules hide all ${plural(hiddenByRules, "tool")} of '${visible(name)}', so no agent can use it`,
      remedy: `${isDoubted ? 'set "trusted": true if you believe what the server says about its tools, ' : ""}allow what you need in "tools" of the configuration, or turn the server off: plugboard disable ${shellWord(name)}`,
    },
  ];
}

/** A server cannot be seen to copy another one when it is looked at alone. */
function doubleFindings({ name, diagnostics }: ServerStatus): Finding[] {
  return diagnostics
    .filter(({ kind }) => kind === "double")
    .map((each) => ({
      level: "warning",
      check: "double",
      subject: name,
      message: `${visible(name)}: ${diagnosticText(each)}`,
      remedy: `until you know why, turn it off: plugboard disable ${shellWord(name)}`,
    }));
}

async function pinFindings(
  { quiet, config }: DoctorContext,
  isAsked: (names: readonly string[]) => boolean,
): Promise<Finding[]> {
  const found = await config();
  if (found.kind !== "usable") return [];
  const { agent } = found;
  const { all, lostPins } = await withSharedState(quiet, async ({ pins }) => {
    const review = new PinReview(pins);
    return { all: await review.list(), lostPins: await review.lost() };
  });
  /** Only for servers that are configured and enabled: nobody needs the pins of others. */
  const servers = agent.servers.filter(({ enabled }) => enabled);
  const modes = new Map(
    servers.map(({ name, guard }) => [name, guard?.pins ?? agent.guard?.pins ?? "warn"]),
  );
  const isUsed = (name: string): boolean => (modes.get(name) ?? "off") !== "off" && isAsked([name]);
  const waiting = pinsOf(servers, all)
    .filter(({ server }) => isUsed(server))
    .flatMap((pins): Finding[] => {
      const { server } = pins;
      const count = pendingOf(entriesOf({ servers: [pins] })).length;
      if (count === 0) return [];
      const isBlocked = modes.get(server) === "block";
      const what = count === 1 ? "1 definition" : `${count} definitions`;
      return [
        {
          level: isBlocked ? "warning" : "note",
          check: "pins-changed",
          subject: server,
          message: `${what} of '${visible(server)}' changed since you first saw ${count === 1 ? "it" : "them"}, ${isBlocked ? "so these tools cannot be called" : 'and such tools are still used, since "pins" is "warn"'}`,
          remedy: `${isBlocked ? "" : 'to have them refused until you approve them, set "pins": "block"; '}to see what changed: plugboard pins show ${shellWord(server)}`,
        },
      ];
    });
  const lost = lostPins
    .filter(({ server }) => isUsed(server))
    .map((each): Finding => ({
      level: "warning",
      check: "pins-lost",
      subject: each.server,
      message: lostReason(each),
      remedy: lostRemedy(each),
    }));
  return [...waiting, ...lost];
}

async function tokenFindings(
  { quiet, config }: DoctorContext,
  isAsked: (names: readonly string[] | undefined) => boolean,
): Promise<Finding[]> {
  if ((await config()).kind !== "usable") return [];
  const tokens = await withSharedState(quiet, (state) => state.tokens.list());
  const now = quiet.clock.now();
  const valid = tokens.filter(({ expiresAt = Infinity }) => expiresAt > now);
  const unmatched = await unmatchedPatterns(valid, quiet);
  return unmatched
    .filter(({ servers }) => isAsked(servers))
    .map((each): Finding => {
      const { token, option, nearest } = each;
      const name = shellWord(token.name);
      const again = `plugboard tokens revoke ${name}, then plugboard tokens add ${name}`;
      return {
        level: isPrecaution({ ...each, setting: option }) ? "note" : "warning",
        check: "token-matches-nothing",
        subject: token.name,
        message: `the token ${visible(token.name)}: ${unmatchedText(each)}`,
        remedy: `a token cannot be changed; make it again${nearest === undefined ? "" : ` with ${option} ${shellWord(nearest)}`}: ${again} …`,
      };
    });
}

/** The patterns of `gateway.jwt.rights`, as if each entry were a token. */
async function rightFindings(
  { quiet, config }: DoctorContext,
  isAsked: (names: readonly string[] | undefined) => boolean,
): Promise<Finding[]> {
  if ((await config()).kind !== "usable") return [];
  await using live = await LiveConfig.open(quiet);
  const { settings } = await live.readGateway();
  const rights = (settings.jwt?.rights ?? []).map(({ agents, allow }, index) => {
    const name = `gateway.jwt.rights[${index}]`;
    const policy = allow && { tools: { allow: [...allow] } };
    return { id: name, name, ...(agents && { agents }), ...(policy && { policy }) };
  });
  const unmatched = await unmatchedPatterns(rights, quiet);
  return unmatched
    .filter(({ servers }) => isAsked(servers))
    .map(({ token, ...each }) => unmatchedFinding({ ...each, setting: `${token.name}.allow` }));
}
