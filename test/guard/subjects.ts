// Tools and calls as a board would hand them to the guard.

import { PlugboardError } from "../../src/model/errors.ts";
import type { GuardedCall, Next, StageFor, ToolSubject } from "../../src/model/guard.ts";
import type { CallOutcome } from "../../src/model/tool.ts";

export const OUTCOME: CallOutcome = { content: [{ type: "text", text: "done" }] };

/** `name` is canonical: `docs/read` or `native/read`. */
export function subject(name: string, overrides: Partial<ToolSubject> = {}): ToolSubject {
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
export function contentOf(name: string, overrides: Partial<ToolSubject> = {}): ToolSubject {
  const [, kind, of = ""] = /\/(resource|prompt):(.*)$/.exec(name) ?? [];
  if (kind !== "resource" && kind !== "prompt") throw new Error(`neither: ${name}`);
  return subject(name, { content: { kind, name: of }, ...overrides });
}

export function callOf(of: ToolSubject, overrides: Partial<GuardedCall> = {}): GuardedCall {
  return {
    callId: "call_1",
    subject: of,
    args: {},
    started: 0,
    signal: undefined,
    onUpdate: undefined,
    decision: { verdict: "allowed" },
    audit: undefined,
    ...overrides,
  };
}

/** Sends a call through one stage; a stage that is not there lets it through. */
export async function pass(
  stageFor: StageFor,
  call: GuardedCall,
  next: Next = async () => OUTCOME,
): Promise<CallOutcome> {
  const stage = stageFor(call.subject);
  return stage === undefined ? next(call) : stage(call, next);
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
