// Which calls on record are wanted.

import type { AuditLine } from "../../core/types/audit-entry.ts";
import { compileGlob } from "../../util/glob.ts";

export interface AuditQuery {
  server?: string;
  /** A glob on `tool` or `server/tool`. */
  tool?: string;
  /** Who made the call, as the gateway knows them. */
  caller?: string;
  /** Milliseconds since the epoch. */
  since?: number;
}

/** A line about lost entries passes if its time does: the entries may have been about any tool. */
export function auditFilter({
  server,
  tool,
  caller,
  since,
}: AuditQuery): (line: AuditLine) => boolean {
  const isWanted = tool === undefined ? undefined : compileGlob(tool);
  return (line) => {
    if (since !== undefined && !(Date.parse(line.time) >= since)) return false;
    if (line.type === "lost") return true;
    if (server !== undefined && line.server !== server) return false;
    if (caller !== undefined && (line.type === "suspicious" || line.caller !== caller))
      return false;
    if (isWanted === undefined) return true;
    const { tool: own = "" } = line;
    return isWanted(own) || isWanted(`${line.server}/${own}`);
  };
}
