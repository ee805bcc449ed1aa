// Limits how many calls a server gets per minute: one bucket of tokens for all its tools, and another one for
// a tool that has its own limit. A call beyond the limit waits for its token, in order; where that would take too
// long, it is refused and told when to try again. Reads of resources and prompts count only where a pattern names
// them, and all that one pattern names have one bucket.

import { cancelled, PlugboardError } from "../model/errors.ts";
import type { GuardedCall, Next, Stage, StageFor, ToolSubject } from "../model/guard.ts";
import { namedExceptionFor } from "../model/per-tool.ts";
import { toolName } from "../model/tool-pattern.ts";
import type { CallOutcome } from "../model/tool.ts";
import { type Clock, pause } from "../util/clock.ts";
import { duration, oneLine, plural, sayTool } from "../util/text.ts";
import { countedAs, exceptionCountedAs, type ServerGuards } from "./server-guards.ts";
import { LIMIT_STRICTNESS } from "./strictest.ts";

export interface RateLimitSettings {
  servers: ServerGuards;
  clock: Clock;
  /** For servers without a setting of their own. */
  perMinute?: number | false;
}

/** A model that waits longer had better be told, so that it can do something else. */
const LONGEST_WAIT_MS = 30_000;

interface Limit {
  of: string;
  bucket: TokenBucket;
  /** Where it can be changed. */
  setting: string;
}

export function rateLimitStage({ servers, clock, perMinute }: RateLimitSettings): StageFor {
  /** Kept by name, so that a tool whose definition changes does not get a full bucket. */
  const buckets = new Map<string, TokenBucket>();

  function limitOf(subject: ToolSubject, name: string, rate: number | false | undefined): Limit[] {
    if (rate === undefined || rate === false) return [];
    const key = countedAs(subject, name);
    const bucket = buckets.get(key) ?? new TokenBucket(rate, clock);
    buckets.set(key, bucket);
    return [{ of: name, bucket, setting: settingOf(subject) }];
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
    return limits.length === 0 ? undefined : within(limits, server, clock);
  };
}

/** A session's own servers cannot be configured one by one. */
function settingOf({ origin, source }: ToolSubject): string {
  if (origin === "session") return "mcp.session.rateLimit";
  return source.kind === "mcp" ? `rateLimit of the server '${source.server}'` : "rateLimit";
}

function within(limits: readonly Limit[], server: string, clock: Clock): Stage {
  // Not async: a call within its limits should not pay for a promise.
  return (call, next) => {
    // First look, then take: a call that one limit refuses must not use up the other.
    let wait = 0;
    for (const limit of limits) {
      const own = limit.bucket.wait();
      if (own > LONGEST_WAIT_MS) {
        call.decision = { verdict: "refused", rule: `rateLimit of ${limit.of}` };
        call.notify?.(slowed(limit));
        return Promise.reject(tooMany(limit, own, server));
      }
      if (own > 0) call.notify?.(slowed(limit));
      wait = Math.max(wait, own);
    }
    for (const { bucket } of limits) bucket.take();
    return wait === 0 ? next(call) : later(call, next, { limits, wait, clock });
  };
}

/** Its tokens are taken already, so that calls keep their order. */
async function later(
  call: GuardedCall,
  next: Next,
  { limits, wait, clock }: { limits: readonly Limit[]; wait: number; clock: Clock },
): Promise<CallOutcome> {
  const { signal = new AbortController().signal } = call;
  await pause(clock, wait, signal);
  if (!signal.aborted) return next(call);
  for (const { bucket } of limits) bucket.giveBack();
  throw cancelled();
}

/** The same text each time, so that it can be said once. */
function slowed({ of, bucket, setting }: Limit): string {
  const allowed = plural(bucket.perMinute, "call");
  return `calls to ${oneLine(of, 200)} are slowed down to ${allowed} a minute; ${setting} changes that`;
}

function tooMany({ of, bucket, setting }: Limit, wait: number, server: string): PlugboardError {
  const allowed = `${plural(bucket.perMinute, "call")} a minute`;
  return new PlugboardError(
    "RATE_LIMITED",
    `too many calls to ${of.includes("/") ? sayTool(of) : oneLine(of, 200)}: the limit is ${allowed}`,
    { server, hint: `try again in ${duration(wait)}; ${setting} changes the limit` },
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

  /** Milliseconds until there is a token for one more call; 0 if there is one now. */
  wait(): number {
    this.#fill();
    if (this.#tokens >= WHOLE) return 0;
    return Math.ceil(((1 - this.#tokens) * MINUTE) / this.perMinute);
  }

  /** Takes a token, also one that is there only after `wait`. */
  take(): void {
    this.#tokens -= 1;
  }

  /** For a token that was taken and is not used. */
  giveBack(): void {
    this.#tokens += 1;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const grown = this.#tokens + ((now - this.#filledAt) * this.perMinute) / MINUTE;
    this.#tokens = Math.min(this.perMinute, grown);
    this.#filledAt = now;
  }
}
