// What a token is for: made from what somebody asks for, said in words, and where its client reaches the gateway.

import type { TokenPolicy } from "../../../core/types/caller.ts";
import type { ApprovalMode } from "../../../core/types/guard-settings.ts";
import type { GatewayToken } from "../../../core/types/shared-state.ts";
import { meansContent } from "../../../core/types/tool-pattern.ts";

export interface TokenTerms {
  allow?: string[];
  deny?: string[];
  approval?: ApprovalMode;
  rateLimit?: number;
  /** Tools marked `ownerOnly` may be called. */
  owner?: boolean;
}

export function policyOf({
  allow,
  deny,
  approval,
  rateLimit,
  owner,
}: TokenTerms): TokenPolicy | undefined {
  const tools = { ...(allow && { allow }), ...(deny && { deny }), ...(approval && { approval }) };
  const policy: TokenPolicy = {
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(owner && { owner }),
  };
  return Object.keys(policy).length > 0 ? policy : undefined;
}

/** In words, one after another. Empty: no limits but those of the configuration. */
export function limitsOf({ tools = {}, rateLimit, owner }: TokenPolicy = {}): string[] {
  return [
    ...(tools.allow ?? []).map((pattern) => `allow ${pattern}`),
    ...(seesContent(tools) ? [] : ["no resources or prompts"]),
    ...(tools.deny ?? []).map((pattern) => `deny ${pattern}`),
    ...(tools.approval === undefined ? [] : [`approval ${tools.approval}`]),
    ...(rateLimit === undefined ? [] : [rateLimit === false ? "no rate" : `${rateLimit}/min`]),
    ...(owner ? ["owner"] : []),
  ];
}

/** Whether its client sees any resources or prompts: a list of tools gives none. */
export function seesContent({ allow }: Pick<TokenTerms, "allow">): boolean {
  return allow === undefined || allow.some(meansContent);
}

/** Of the gateway's URL. A token for one agent is for that agent's own address. */
export function endpointOf({ agents = [] }: Pick<GatewayToken, "agents">): string {
  const [only, ...others] = agents;
  return only === undefined || others.length > 0 ? "/mcp" : `/agents/${only}/mcp`;
}
