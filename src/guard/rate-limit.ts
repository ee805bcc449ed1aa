// Limits how many calls a server gets per minute: one bucket of tokens for all its tools, and another one for
// a tool that has its own limit. A call beyond the limit is refused at once, and told when to try again.

import { PlugboardError } from "../model/errors.ts";
import type { Stage, StageFor, ToolSubject } from "../model/guard.ts";
import { exceptionFor } from "../model/per-tool.ts";
import { toolName } from "../model/tool-pattern.ts";
import type { Clock } from "../util/clock.ts";
import { duration, oneLine, plural } from "../util/text.ts";
import { countedAs, type ServerGuards } from "./server-guards.ts";
import { LIMIT_STRICTNESS } from "./strictest.ts";

export interface RateLimitSettings {
  servers: ServerGuards;
  clock: Clock;
  /** For servers without a setting of their own. */
  perMinute?: number | false;
}

interface Limit {
  of: string;
  bucket: TokenBucket;
}

export function rateLimitStage({ servers, clock, perMinute }: RateLimitSettings): StageFor {
  /** Kept by name, so that a tool whose definition changes does not get a full bucket. */
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
    const exception = exceptionFor(rateLimit, toolName(subject), LIMIT_STRICTNESS, perMinute);
    if (exception === false) return undefined;
    const limits = [
      ...limitOf(subject, subject.canonical, exception),
      ...limitOf(subject, server, rateLimit?.default ?? perMinute),
    ];
    return limits.length === 0 ? undefined : within(limits, server);
  };
}

function within(limits: readonly Limit[], server: string): Stage {
  // Not async: a call within its limits should not pay for a promise.
  return (call, next) => {
    // First look, then take: a call that one limit refuses must not use up the other.
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

const MINUTE = 60_000;

/** Adding up fractions of a token ends slightly below 1. */
const WHOLE = 1 - 1e-6;

/** Holds as many calls as are allowed per minute, and refills steadily. */
export class TokenBucket {
  readonly perMinute: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(perMinute: number, clock: Clock) {
    this.perMinute = perMinute;
    this.#clock = clock;
    this.#tokens = perMinute;
    this.#filledAt = clock.monotonic();
  }

  /** Milliseconds until there is a token; 0 if there is one now. */
  wait(): number {
    this.#fill();
    if (this.#tokens >= WHOLE) return 0;
    return Math.ceil(((1 - this.#tokens) * MINUTE) / this.perMinute);
  }

  /** Only after `wait` has returned 0. */
  take(): void {
    this.#tokens -= 1;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const grown = this.#tokens + ((now - this.#filledAt) * this.perMinute) / MINUTE;
    this.#tokens = Math.min(this.perMinute, grown);
    this.#filledAt = now;
  }
}
