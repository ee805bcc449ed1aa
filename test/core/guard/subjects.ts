// Tools and calls as a board would hand them to the guard.

import { compose } from "../../../src/core/guard/compose.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type {
  Callee,
  GuardedCall,
  Next,
  StageFor,
  Subject,
} from "../../../src/core/types/guard.ts";
import type { CallOutcome } from "../../../src/core/types/tool.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";

export const OUTCOME: CallOutcome = { content: [{ type: "text", text: "done" }] };

/** `name` is canonical: `docs/read` or `native/read`. */
export function subject(name: string, overrides: Partial<Subject> = {}): Subject {
  const slash = name.indexOf("/");
  const server = name.slice(0, slash);
  const tool = name.slice(slash + 1);
  const isNative = server === "native";
  return {
    canonical: name,
    publicName: isNative ? tool : `mcp__${server}__${tool}`,
    source: isNative ? { kind: "native" } : { kind: "mcp", server, tool },
    origin: isNative ? "native" : "agent",
    ownerOnly: false,
    hash: "h1",
    ...overrides,
  };
}

/** `name` is `docs/resource:file:///a` or `docs/prompt:greet`. */
export function contentOf(name: string, overrides: Partial<Subject> = {}): Subject {
  const [, kind, of = ""] = /\/(resource|prompt):(.*)$/.exec(name) ?? [];
  if (kind !== "resource" && kind !== "prompt") throw new Error(`neither: ${name}`);
  return subject(name, { content: { kind, name: of }, ...overrides });
}

export function callOf(of: Subject, overrides: Partial<GuardedCall> = {}): GuardedCall {
  return {
    callId: "call_1",
    subject: of,
    args: {},
    started: 0,
    now: 0,
    signal: undefined,
    onUpdate: undefined,
    decision: { verdict: "allowed" },
    audit: undefined,
    argsJson: undefined,
    waitedMs: 0,
    isSent: false,
    timeline: undefined,
    ...overrides,
  };
}

/** A callee that leaves everything to `next`. */
export function calleeOf(next: Next): Callee<CallOutcome> {
  return {
    send: next,
    received: (_, outcome) => outcome,
    failed(_, error) {
      throw error;
    },
  };
}

/** Sends a call through one stage; a stage that is not there lets it through. */
export async function pass(
  stageFor: StageFor,
  call: GuardedCall,
  next: Next = async () => OUTCOME,
  clock: Clock = systemClock,
): Promise<CallOutcome> {
  const stages = [stageFor(call.subject) ?? []].flat();
  return compose(stages, calleeOf(next), clock)(call);
}

/** The PlugboardError that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<PlugboardError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PlugboardError) return error;
  throw new Error("It should have been refused.", { cause: error });
}
