// How many calls a minute: one bucket for all tools of a server, and one more for a tool that has a limit
// of its own. A call beyond is refused at once and told when to come back.

import { PlugboardError } from "../model/errors.ts";
import type { Stage, StageFor, ToolSubject } from "../model/guard.ts";
import type { Clock } from "../util/clock.ts";
import { duration, oneLine, plural } from "../util/text.ts";
import { countedAs, exceptionFor, type ServerGuards } from "./server-guards.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface RateLimitSettings {
  servers: ServerGuards;
  clock: Clock;
  /** For servers that have no word on it. */
  perMinute?: number | false;
}

interface Limit {
  of: string;
  bucket: TokenBucket;
}

export function rateLimitStage({ servers, clock, perMinute }: RateLimitSettings): StageFor {
  /** Kept by name: a tool that changes does not get a full bucket for it. */
  const buckets = new Map<string, TokenBucket>();

  function limitOf(subject: ToolSubject, name: string, rate: number | false | undefined): Limit[] {
    if (rate === undefined || rate === false) return [];
    const key = countedAs(subject, name);
    const bucket = buckets.get(key) ?? new TokenBucket(rate, clock);
    buckets.set(key, bucket);
    return [{ of: name, bucket }];
  }

  return (subject) => {
    if (subject.source.kind !== "mcp") return undefined;
    const { server } = subject.source;
    const { rateLimit } = servers.own(subject);
    const exception = exceptionFor(rateLimit, subject);
    if (exception === false) return undefined;
    const limits = [
      ...limitOf(subject, subject.canonical, exception),
      ...limitOf(subject, server, rateLimit?.default ?? perMinute),
    ];
    return limits.length === 0 ? undefined : within(limits, server);
  };
}

function within(limits: readonly Limit[], server: string): Stage {
  // Not async: a call that passes should not pay for a promise.
  return (call, next) => {
    // All or none: a call that one of them refuses must not use up the other.
    for (const { of, bucket } of limits) {
      const wait = bucket.wait();
      if (wait > 0) {
        call.decision = { verdict: "refused", rule: `rateLimit of ${of}` };
        return Promise.reject(tooMany(of, bucket.perMinute, wait, server));
      }
    }
    for (const { bucket } of limits) bucket.take();
    return next(call);
  };
}

function tooMany(of: string, perMinute: number, wait: number, server: string): PlugboardError {
  const allowed = `${plural(perMinute, "call")} a minute`;
  return new PlugboardError(
    "RATE_LIMITED",
    `too many calls to ${oneLine(of, 200)}: the limit is ${allowed}`,
    { server, hint: `try again in ${duration(wait)}` },
  );
}
