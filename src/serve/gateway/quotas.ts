// How many calls each caller may make: in a minute, on a day, at a time. The quota of a token, or of a JWT's right,
// replaces its agent's, and an agent's quota replaces the one for all agents.

import type { CountCall, CountedCall } from "../endpoint/context.ts";
import {
  type Caller,
  type CallQuota,
  DEFAULT_TOKEN_CALLER,
  tokenCaller,
  tokenOf,
  type TokenPolicy,
} from "../../core/types/caller.ts";
import type { QuotaSettings } from "../../core/types/gateway-settings.ts";
import type { GatewayToken, SharedState } from "../../core/types/shared-state.ts";
import { plural } from "../../util/text.ts";

export interface QuotasOptions {
  settings: QuotaSettings;
  state: Pick<SharedState, "limits" | "usage" | "tokens">;
  /** Is told of each call. */
  onCall?: (caller: Caller) => void;
  /** Is told of each call that is refused. */
  onRefused: () => void;
}

/** A quota, and whose calls it counts. */
interface Counted {
  key: string;
  quota: CallQuota;
}

export class Quotas {
  readonly #options: QuotasOptions;

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /** For the endpoints of one agent. `policy`: what a JWT gives all callers of the endpoint. */
  of(agent: string, policy?: TokenPolicy): CountCall {
    const { onCall } = this.#options;
    return (caller) => {
      onCall?.(caller);
      const counted = this.#find(caller, agent, policy);
      return counted && this.#begin(counted);
    };
  }

  /** Whoever can read the token that the gateway made is its owner, and has no quota. */
  #find({ id }: Caller, agent: string, given: TokenPolicy | undefined): Counted | undefined {
    const { settings, state } = this.#options;
    if (id === DEFAULT_TOKEN_CALLER) return undefined;
    const token = tokenOf(id);
    const own = token === undefined ? given : state.tokens.current(token)?.policy;
    if (own?.quota !== undefined) return { key: usageKey(id, own.quotaOf), quota: own.quota };
    const ofAgent = Object.hasOwn(settings.agents, agent) ? settings.agents[agent] : undefined;
    if (ofAgent !== undefined) return { key: usageKey(id, agent), quota: ofAgent };
    return settings.all && { key: usageKey(id), quota: settings.all };
  }

  async #begin({ key, quota }: Counted): Promise<CountedCall> {
    const { limits, usage } = this.#options.state;
    const { callsPerMinute, callsPerDay, concurrentCalls } = quota;
    const leave =
      concurrentCalls === undefined ? notCounted : await limits.enter(key, concurrentCalls);
    if (leave === undefined) {
      const most = plural(concurrentCalls ?? 0, "call");
      return this.#refuse(
        `You may have ${most} at a time, and you have as many; wait until one has ended.`,
      );
    }
    const buckets = callsPerMinute === undefined ? [] : [{ key, perMinute: callsPerMinute }];
    const delay = buckets.length === 0 ? undefined : await limits.take(buckets, 0);
    if (delay !== undefined) {
      leave();
      const seconds = Math.max(1, Math.ceil(Math.max(...delay.waits) / 1000));
      return this.#refuse(
        `You have used your ${numbered(callsPerMinute ?? 0)} for this minute; try again in ${seconds} s.`,
      );
    }
    if (callsPerDay !== undefined && !(await usage.use(key, callsPerDay))) {
      leave();
      if (buckets.length > 0) limits.giveBack(buckets);
      return this.#refuse(
        `You have used your ${numbered(callsPerDay)} for today; the count starts again at 00:00 UTC.`,
      );
    }
    return { end: leave };
  }

  #refuse(refused: string): CountedCall {
    this.#options.onRefused();
    return { refused };
  }
}

function notCounted(): void {}

/**
 * What the calls of a caller are counted under. `agent`: only those to one agent. The caller comes last: the subject of a JWT
 * can be any text, and must not look like somebody else's key.
 */
function usageKey(caller: string, agent?: string): string {
  return agent === undefined ? `calls ${caller}` : `calls of ${agent}: ${caller}`;
}

/** A quota that holds for a token, and what it has used of it. */
export interface TokenQuota {
  quota: CallQuota;
  /** It is that of the configuration. */
  isDefault: boolean;
  /** Only the calls to this agent count. */
  agent?: string;
  /** The calls of today, where the quota is about them. */
  callsToday?: number;
}

/** The quotas of each token, by its id: its own, or those of the configuration for the agents that it is for. */
export async function quotasOfTokens(
  tokens: readonly GatewayToken[],
  settings: QuotaSettings | undefined,
  usage: Pick<SharedState["usage"], "today">,
): Promise<Map<string, readonly TokenQuota[]>> {
  const all = tokens.map((token) => [token.id, quotasOf(token, settings)] as const);
  const keys = all.flatMap(([, quotas]) =>
    quotas.flatMap(({ key, quota }) => (quota.callsPerDay === undefined ? [] : [key])),
  );
  const used = keys.length === 0 ? new Map<string, number>() : await usage.today(keys);
  return new Map(
    all.map(([id, quotas]) => [
      id,
      quotas.map(({ key, ...quota }) => ({
        ...quota,
        ...(quota.quota.callsPerDay !== undefined && { callsToday: used.get(key) ?? 0 }),
      })),
    ]),
  );
}

function quotasOf(
  { id, policy, agents }: GatewayToken,
  settings: QuotaSettings | undefined,
): (TokenQuota & { key: string })[] {
  const caller = tokenCaller(id);
  if (caller === DEFAULT_TOKEN_CALLER) return [];
  const { quota } = policy ?? {};
  if (quota !== undefined) return [{ quota, isDefault: false, key: usageKey(caller) }];
  const ofAgents = Object.entries(settings?.agents ?? {}).filter(
    ([agent]) => agents?.includes(agent) ?? true,
  );
  const isForOthers = agents?.every((agent) => ofAgents.some(([each]) => each === agent)) !== true;
  return [
    ...(settings?.all !== undefined && isForOthers
      ? [{ quota: settings.all, isDefault: true, key: usageKey(caller) }]
      : []),
    ...ofAgents.map(([agent, of]) => ({
      quota: of,
      isDefault: true,
      agent,
      key: usageKey(caller, agent),
    })),
  ];
}

/** `1 000 calls` */
function numbered(calls: number): string {
  const digits = String(calls).replaceAll(/\B(?=(?:\d{3})+$)/g, " ");
  return `${digits} ${calls === 1 ? "call" : "calls"}`;
}
