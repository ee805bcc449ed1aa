// Two stages of the guard. The outermost one records every call, however the call ends. The innermost one writes a
// line before a call is sent that may change something, so that a host that is killed leaves a trace of it.

import type { AuditEntry } from "../../model/audit-entry.ts";
import type { ContentBlock } from "../../model/content.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { Stage, StageFor, ToolSubject } from "../../model/guard.ts";
import type { CallOutcome } from "../../model/tool.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import type { ValueRedactor } from "../redact.ts";
import type { AuditLog } from "./audit-log.ts";
import { type AuditRecord, keepArguments } from "./record.ts";

export interface AuditStageOptions {
  agent: string;
  session?: string;
  /** Write the arguments instead of their hash. */
  arguments?: boolean;
  /** Takes secrets out of the arguments. */
  redact: ValueRedactor;
  clock?: Clock;
}

export interface AuditStages {
  whole: Stage;
  start: StageFor;
}

export function auditStages(
  log: Pick<AuditLog, "record" | "start">,
  options: AuditStageOptions,
): AuditStages {
  const { agent, session, clock = systemClock } = options;
  const redact = options.arguments === true ? options.redact : undefined;
  const start: Stage = (call, next) => {
    const writing = call.audit && log.start(call.audit as AuditRecord);
    if (writing === undefined) return next(call);
    // Not async: a call without a start line must not pay for another promise.
    // oxlint-disable-next-line promise/no-callback-in-promise -- `next` is the next stage, not a callback
    return writing.then(() => next(call));
  };
  const whole: Stage = async (call, next) => {
    const started = clock.monotonic();
    const { source, canonical } = call.subject;
    const record: AuditRecord = {
      time: clock.now(),
      agent,
      session,
      caller: call.caller,
      server: source.kind === "mcp" ? source.server : "native",
      tool: source.kind === "mcp" ? source.tool : canonical.slice("native/".length),
      args: keepArguments(call.args),
      redact,
      startId: undefined,
      decision: call.decision,
      durationMs: 0,
      bytes: 0,
      outcome: "error",
    };
    call.audit = record;
    try {
      const outcome = await next(call);
      record.outcome = wordFor(outcome);
      record.bytes = sizeOf(outcome);
      return outcome;
    } catch (error) {
      if (error instanceof PlugboardError) record.outcome = error.code;
      throw error;
    } finally {
      record.decision = call.decision;
      record.durationMs = clock.monotonic() - started;
      log.record(record);
    }
  };
  return { whole, start: (subject) => (mayChange(subject) ? start : undefined) };
}

/**
 * A tool that says it only reads is believed if it is the host's own or its server is configured. Whoever sends a server
 * with a session could otherwise keep its calls out of the audit.
 */
function mayChange({ annotations, origin }: ToolSubject): boolean {
  return annotations?.["readOnlyHint"] !== true || origin === "session";
}

function wordFor({ failure, isError, inputRequired }: CallOutcome): AuditEntry["outcome"] {
  if (failure !== undefined) return failure.code;
  if (inputRequired !== undefined) return "input";
  return isError === true ? "error" : "ok";
}

/** In characters: counting bytes would mean reading all of it. */
function sizeOf({ content }: CallOutcome): number {
  let size = 0;
  for (const block of content) size += blockSize(block);
  return size;
}

function blockSize(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "image":
    case "audio":
      return block.data.length;
    case "resource":
      return block.resource.text?.length ?? block.resource.blob?.length ?? 0;
    case "resource_link":
      return block.uri.length;
  }
}
