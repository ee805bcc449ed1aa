// Limits how many calls a server gets per minute: one bucket for all its tools, and another one for
// a tool that has its own limit. A call beyond the limit waits for its turn; where that would take too
// long, it is refused and told when to try again. Reads of resources and prompts count only where a pattern names
// them, and all that one pattern names have one bucket.

import { cancelled, PlugboardError } from "../types/errors.ts";
import type { GuardedCall, Stage, StageFor, Subject } from "../types/guard.ts";
import { namedExceptionFor } from "../types/per-tool.ts";
import { toolName } from "../types/tool-pattern.ts";
import type { Delay, LimitBucket, Limits } from "../types/shared-state.ts";
import { type Clock, pause } from "../../util/clock.ts";
import { duration, oneLine, plural, sayTool } from "../../util/text.ts";
import { countedAs, exceptionCountedAs, type ServerGuards } from "./server-guards.ts";
import { LIMIT_STRICTNESS } from "./strictest.ts";

export interface RateLimitSettings {
  servers: ServerGuards;
  /** Where calls are counted. */
  limits: Pick<Limits, "take" | "giveBack">;
  /** Whose calls they are: the agent. */
  of: string;
  clock: Clock;
  /** For servers without a setting of their own. */
  perMinute?: number | false;
}

/** A model that waits longer had better be told, so that it can do something else. */
const LONGEST_WAIT_MS = 30_000;

interface Limit extends LimitBucket {
  of: string;
  /** Where it can be changed. */
  setting: string;
}

export function rateLimitStage(settings: RateLimitSettings): StageFor {
  const { servers, perMinute } = settings;

  /** Counted by name, so that a tool whose definition changes does not get a full bucket. */
  function limitOf(subject: Subject, name: string, rate: number | false | undefined): Limit[] {
    if (rate === undefined || rate === false) return [];
    const key = JSON.stringify(["calls", settings.of, countedAs(subject, name)]);
    return [{ key, perMinute: rate, of: name, setting: settingOf(subject) }];
  }

  return (subject) => {
    if (subject.source.kind !== "mcp") return undefined;
    const { server } = subject.source;
    const { rateLimit } = servers.own(subject);
    const name = toolName(subject);
    const exception = namedExceptionFor(rateLimit, name, LIMIT_STRICTNESS, perMinute);
    if (exception?.value === false) return undefined;
    const counted = exceptionCountedAs(subject, exception?.text);
    const limits = [
      ...limitOf(subject, counted, exception?.value),
      ...(subject.content ? [] : limitOf(subject, server, rateLimit?.default ?? perMinute)),
    ];
    return limits.length === 0 ? undefined : within(limits, server, settings);
  };
}

/** A session's own servers cannot be configured one by one. */
function settingOf({ origin, source }: Subject): string {
  if (origin === "session") return "mcp.session.rateLimit";
  return source.kind === "mcp" ? `rateLimit of the server '${source.server}'` : "rateLimit";
}

function within(
  buckets: readonly Limit[],
  server: string,
  { limits, clock }: RateLimitSettings,
): Stage {
  /** A waiting call has its place in the buckets already, so that calls keep their order. */
  const waitFor = async (delay: Delay, call: GuardedCall): Promise<void> => {
    for (const [index, limit] of buckets.entries()) {
      const wait = delay.waits[index] ?? 0;
      if (wait > 0) call.notify?.(slowed(limit));
      if (wait <= LONGEST_WAIT_MS) continue;
      call.decision = { verdict: "refused", rule: `rateLimit of ${limit.of}` };
      throw tooMany(limit, wait, server);
    }
    const longest = Math.max(...delay.waits);
    const limit = buckets[delay.waits.indexOf(longest)];
    if (limit !== undefined && longest > 0) {
      const text = `waits ${duration(longest)}: ${slowed(limit)}`;
      call.onUpdate?.({ content: [{ type: "text", text }] });
    }
    await pause(clock, longest, call.signal);
    if (!call.signal?.aborted) return;
    limits.giveBack(buckets);
    throw cancelled(call.signal);
  };
  const whenKnown = async (asked: Promise<undefined | Delay>, call: GuardedCall): Promise<void> => {
    const delay = await asked;
    if (delay !== undefined) await waitFor(delay, call);
  };
  return {
    name: "rate limit",
    before(call) {
      const delay = limits.take(buckets, LONGEST_WAIT_MS);
      if (delay === undefined) return undefined;
      return delay instanceof Promise ? whenKnown(delay, call) : waitFor(delay, call);
    },
  };
}

/** The same text each time, so that it can be said once. */
function slowed({ of, perMinute, setting }: Limit): string {
  const allowed = plural(perMinute, "call");
  return `calls to ${oneLine(of, 200)} are slowed down to ${allowed} a minute; ${setting} changes that`;
}

function tooMany({ of, perMinute, setting }: Limit, wait: number, server: string): PlugboardError {
  const allowed = `${plural(perMinute, "call")} a minute`;
  return new PlugboardError(
    "RATE_LIMITED",
    `too many calls to ${of.includes("/") ? sayTool(of) : oneLine(of, 200)}: the limit is ${allowed}`,
    { server, hint: `try again in ${duration(wait)}; ${setting} changes the limit` },
  );
}
