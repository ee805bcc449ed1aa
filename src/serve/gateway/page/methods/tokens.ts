// The tokens of MCP clients, as the page shows, makes and revokes them. A token's text is in one answer, and nowhere else.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import {
  DEFAULT_TOKEN,
  type GatewayToken,
  type TokenStore,
} from "../../../../core/types/shared-state.ts";
import { requirePatterns } from "../../../../core/types/tool-pattern.ts";
import type { Clock } from "../../../../util/clock.ts";
import { oneLine } from "../../../../util/text.ts";
import { clientEntries } from "../../access/client-entries.ts";
import { endpointOf, tokenLimits, policyOf, unseenBy } from "../../access/token-terms.ts";
import type { Decisions } from "../decisions.ts";
import type { TokenFacts } from "../wire.ts";
import { type Methods, NAME, NOTHING } from "../method.ts";

export interface TokenMethodsOptions {
  tokens: TokenStore;
  /** Those that are configured now. */
  agentIds: readonly string[];
  decisions: Pick<Decisions, "record">;
  clock: Clock;
  /** What clients call the gateway. */
  url: string;
}

const MOST_PATTERNS = 100;
const LONGEST_LIFE_MS = 10 * 365 * 86_400_000;
const MOST_A_MINUTE = 100_000_000;
const PATTERNS = z.array(NAME).min(1).max(MOST_PATTERNS).optional();

export function tokenMethods({
  tokens,
  agentIds,
  decisions,
  clock,
  url,
}: TokenMethodsOptions): Methods<"tokens/list" | "tokens/add" | "tokens/revoke"> {
  return {
    "tokens/list": {
      takes: NOTHING,
      run: async () => ({ tokens: (await tokens.list()).map(tokenFacts), agents: [...agentIds] }),
    },
    "tokens/add": {
      takes: z.strictObject({
        name: NAME,
        agents: z.array(NAME).min(1).max(MOST_PATTERNS).optional(),
        allow: PATTERNS,
        deny: PATTERNS,
        approval: z.enum(["never", "ask", "destructive"]).optional(),
        rateLimit: z.int().min(1).max(MOST_A_MINUTE).optional(),
        expires: z.int().min(1).max(LONGEST_LIFE_MS).optional(),
      }),
      run: async ({ name, agents, expires, ...terms }, visitor) => {
        const unknown = agents?.find((id) => !agentIds.includes(id));
        if (unknown !== undefined) {
          const message = `there is no agent '${oneLine(unknown, 100)}'`;
          throw new PlugboardError("INVALID_ARGUMENTS", message);
        }
        requirePatterns(terms, (rule) => rule);
        const policy = policyOf(terms);
        const { token, text } = await tokens.add({
          name,
          ...(agents && { agents: [...new Set(agents)] }),
          ...(policy && { policy }),
          ...(expires !== undefined && { expiresAt: clock.now() + expires }),
        });
        await decisions.record(visitor, { decided: `make the token ${token.name}` });
        const unseen = unseenBy(terms);
        const address = `${url}${endpointOf(token)}`;
        return {
          token: tokenFacts(token),
          text,
          url: address,
          entries: clientEntries(address, text),
          ...(unseen !== undefined && { unseen }),
        };
      },
    },
    "tokens/revoke": {
      takes: z.strictObject({ id: NAME }),
      run: async ({ id }, visitor) => {
        const known = (await tokens.list()).find((token) => token.id === id);
        if (known === undefined) {
          throw new PlugboardError("INVALID_ARGUMENTS", "this token is gone already");
        }
        await tokens.revoke(id);
        await decisions.record(visitor, { decided: `revoke the token ${known.name}` });
        return {};
      },
    },
  };
}

function tokenFacts({ id, name, agents, policy, ...times }: GatewayToken): TokenFacts {
  const { createdAt, expiresAt, lastUsedAt } = times;
  return {
    id,
    name,
    isDefault: id === DEFAULT_TOKEN,
    ...(agents && { agents }),
    limits: tokenLimits(policy),
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  };
}
