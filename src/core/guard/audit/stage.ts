// Two stages of the guard. The outermost one records every call, however the call ends. The innermost one writes a
// line before a call is sent that may change something, so that a host that is killed leaves a trace of it.

import type { AuditEntry } from "../../types/audit-entry.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { GuardedCall, Stage, StageFor, Subject } from "../../types/guard.ts";
import type { CallOutcome } from "../../types/tool.ts";
import { ownTime } from "../own-time.ts";
import { outcomeSize } from "../outcome-size.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import type { ValueRedactor } from "../redact.ts";
import type { AuditLog } from "./audit-log.ts";
import { AuditedTool, type AuditRecord, keepArguments } from "./record.ts";

export interface AuditStageOptions {
  agent: string;
  session?: string;
  /** Write the arguments instead of their hash. */
  arguments?: boolean;
  /** Takes secrets out of the arguments. */
  redact: ValueRedactor;
  clock?: Clock;
}

/** For how many callers a tool remembers the part of its lines that is always the same. */
const MOST_CALLERS = 100;

export interface AuditStages {
  whole: (subject: Subject) => Stage;
  start: StageFor;
}

export function auditStages(
  log: Pick<AuditLog, "record" | "start">,
  options: AuditStageOptions,
): AuditStages {
  const { clock = systemClock } = options;
  const start: Stage = {
    name: "audit of the start",
    before: ({ audit }) => audit && log.start(audit as AuditRecord),
  };
  const end = (call: GuardedCall, outcome: AuditRecord["outcome"], bytes: number): void => {
    const record = call.audit as AuditRecord;
    record.outcome = outcome;
    record.bytes = bytes;
    record.decision = call.decision;
    record.durationMs = ownTime(call);
    record.waitedMs = call.waitedMs;
    // What was approved is sent, and not what the caller has made of it meanwhile.
    if (record.args?.kind === "large") record.args = { kind: "large", args: call.args };
    log.record(record);
  };
  const whole = (subject: Subject): Stage => {
    const audited = byCaller((caller) => auditedTool(subject, caller, options));
    return {
      name: "audit",
      before(call) {
        const args = keepArguments(call.args);
        if (args?.kind === "copy") call.argsJson = args.json;
        const record: AuditRecord = {
          time: clock.now(),
          of: audited(call.caller),
          args,
          startNumber: undefined,
          decision: call.decision,
          durationMs: 0,
          waitedMs: 0,
          bytes: 0,
          outcome: "error",
        };
        call.audit = record;
        return undefined;
      },
      after(call, outcome) {
        end(call, wordFor(outcome), outcomeSize(outcome));
        return outcome;
      },
      failed(call, error) {
        end(call, error instanceof PlugboardError ? error.code : "error", 0);
        throw error;
      },
    };
  };
  return { whole, start: (subject) => (mayChange(subject) ? start : undefined) };
}

/** Few callers make most of the calls. */
function byCaller(make: (caller: string | undefined) => AuditedTool) {
  const made = new Map<string | undefined, AuditedTool>();
  return (caller: string | undefined): AuditedTool => {
    let known = made.get(caller);
    if (known === undefined) {
      if (made.size >= MOST_CALLERS) made.clear();
      known = make(caller);
      made.set(caller, known);
    }
    return known;
  };
}

function auditedTool(
  { source, canonical }: Subject,
  caller: string | undefined,
  { agent, session, redact, arguments: hasArguments }: AuditStageOptions,
): AuditedTool {
  const server = source.kind === "mcp" ? source.server : "native";
  const tool = source.kind === "mcp" ? source.tool : canonical.slice("native/".length);
  return new AuditedTool(
    { agent, session, caller, server, tool },
    hasArguments === true ? redact : undefined,
  );
}

/**
 * A tool that says it only reads is believed if it is the host's own or its server is configured. Whoever sends a server
 * with a session could otherwise keep its calls out of the audit.
 */
function mayChange({ annotations, origin }: Subject): boolean {
  return annotations?.["readOnlyHint"] !== true || origin === "session";
}

function wordFor({ failure, isError, inputRequired }: CallOutcome): AuditEntry["outcome"] {
  if (failure !== undefined) return failure.code;
  if (inputRequired !== undefined) return "input";
  return isError === true ? "error" : "ok";
}
