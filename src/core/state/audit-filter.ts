// Which calls on record are wanted.

import type { AuditEntry, AuditLine } from "../types/audit-entry.ts";
import { compileGlob } from "../../util/glob.ts";

export interface AuditQuery {
  server?: string;
  /** A glob on `tool` or `server/tool`. */
  tool?: string;
  /** Who made the call, as the gateway knows them. */
  caller?: string;
  /** Milliseconds since the epoch. */
  since?: number;
  until?: number;
  outcome?: AuditOutcome;
  /** A part of the rule that decided. */
  rule?: string;
}

/** `refused`: the guard did not let it pass. `failed`: all else that went wrong. `decision`: what a person decided. */
type AuditOutcome = "ok" | "failed" | "refused" | "suspicious" | "decision";

/** A line about lost entries passes if its time does: the entries may have been about any tool. */
export function auditFilter({
  server,
  tool,
  caller,
  since,
  until,
  outcome,
  rule,
}: AuditQuery): (line: AuditLine) => boolean {
  const isWanted = tool === undefined ? undefined : compileGlob(tool);
  return (line) => {
    if (since !== undefined && !(Date.parse(line.time) >= since)) return false;
    if (until !== undefined && !(Date.parse(line.time) <= until)) return false;
    if (line.type === "lost") return true;
    if (outcome !== undefined && outcomeOf(line) !== outcome) return false;
    if (rule !== undefined && !(line.type === "call" && line.rule?.includes(rule))) return false;
    if (server !== undefined && line.server !== server) return false;
    if (caller !== undefined && (line.type === "suspicious" || line.caller !== caller))
      return false;
    if (isWanted === undefined) return true;
    const { tool: own = "" } = line;
    return isWanted(own) || isWanted(`${line.server}/${own}`);
  };
}

/** Undefined for a call without an end. */
function outcomeOf(line: Exclude<AuditLine, { type: "lost" }>): AuditOutcome | undefined {
  if (line.type === "suspicious" || line.type === "decision") return line.type;
  return line.type === "call" ? endOf(line) : undefined;
}

function endOf({ decision, outcome }: AuditEntry): AuditOutcome {
  if (outcome === "ok" || outcome === "input") return "ok";
  return decision === "refused" ? "refused" : "failed";
}
