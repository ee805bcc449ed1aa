// What a token is for: made from what somebody asks for, said in words, and where its client reaches the gateway.

import type { TokenPolicy } from "../../../core/types/caller.ts";
import type { ApprovalMode } from "../../../core/types/guard-settings.ts";
import type { GatewayToken } from "../../../core/types/shared-state.ts";
import { meansContent, meansTools } from "../../../core/types/tool-pattern.ts";
import { oneLine, plural } from "../../../util/text.ts";
import type { TokenQuota } from "../quotas.ts";

export interface TokenTerms {
  allow?: string[];
  deny?: string[];
  approval?: ApprovalMode;
  rateLimit?: number;
  callsPerMinute?: number;
  callsPerDay?: number;
  concurrentCalls?: number;
  /** Tools marked `ownerOnly` may be called. */
  owner?: boolean;
}

export function policyOf({
  allow,
  deny,
  approval,
  rateLimit,
  callsPerMinute,
  callsPerDay,
  concurrentCalls,
  owner,
}: TokenTerms): TokenPolicy | undefined {
  const quota = {
    ...(callsPerMinute !== undefined && { callsPerMinute }),
    ...(callsPerDay !== undefined && { callsPerDay }),
    ...(concurrentCalls !== undefined && { concurrentCalls }),
  };
  const tools = { ...(allow && { allow }), ...(deny && { deny }), ...(approval && { approval }) };
  const policy: TokenPolicy = {
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(Object.keys(quota).length > 0 && { quota }),
    ...(owner && { owner }),
  };
  return Object.keys(policy).length > 0 ? policy : undefined;
}

/** In words, one after another. Empty: no limits but those of the configuration. Default of `quotas`: the token's own. */
export function tokenLimits(
  { tools = {}, rateLimit, quota, owner }: TokenPolicy = {},
  quotas: readonly TokenQuota[] = quota === undefined ? [] : [{ quota, isDefault: false }],
): string[] {
  const unseen = unseenBy(tools);
  return [
    ...(tools.allow ?? []).map((pattern) => `allow ${pattern}`),
    ...(unseen === undefined ? [] : [`no ${unseen}`]),
    ...(tools.deny ?? []).map((pattern) => `deny ${pattern}`),
    ...(tools.approval === undefined ? [] : [`approval ${tools.approval}`]),
    ...(rateLimit === undefined ? [] : [rateLimit === false ? "no rate" : `${rateLimit}/min`]),
    ...quotas.flatMap(quotaInWords),
    ...(owner ? ["owner"] : []),
  ];
}

function quotaInWords({ quota, isDefault, agent, callsToday }: TokenQuota): string[] {
  const { callsPerMinute, callsPerDay, concurrentCalls } = quota;
  const perDay =
    callsToday === undefined
      ? `${callsPerDay} calls/day`
      : `${callsToday} of ${callsPerDay} calls today`;
  const whose = [agent === undefined ? "" : ` to ${oneLine(agent)}`, isDefault ? " (default)" : ""];
  return [
    ...(callsPerMinute === undefined ? [] : [`${callsPerMinute} calls/min`]),
    ...(callsPerDay === undefined ? [] : [perDay]),
    ...(concurrentCalls === undefined ? [] : [`${plural(concurrentCalls, "call")} at a time`]),
  ].map((each) => `${each}${whose.join("")}`);
}

/** What its client sees none of: a list of tools gives no resources and prompts, and a list of these gives no tools. */
export function unseenBy({
  allow,
}: Pick<TokenTerms, "allow">): "tools" | "resources or prompts" | undefined {
  if (allow === undefined) return undefined;
  if (!allow.some(meansContent)) return "resources or prompts";
  return allow.some(meansTools) ? undefined : "tools";
}

/** The path of the endpoint that a token is for. A token for one agent is for that agent's own. */
export function endpointOf({ agents = [] }: Pick<GatewayToken, "agents">): string {
  const [only, ...others] = agents;
  return only === undefined || others.length > 0 ? "/mcp" : `/agents/${only}/mcp`;
}
