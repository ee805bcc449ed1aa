// Which lines of an audit somebody asks for.

import type { AuditLine } from "../../../guard/audit/entry.ts";
import { compileGlob } from "../../../guard/glob.ts";
import type { AuditCommand } from "../invocation.ts";

/** Lines that say what is missing pass whenever their time does: they may stand for anything. */
export function auditFilter(
  { server, tool, since }: Pick<AuditCommand, "server" | "tool" | "since">,
  now: number,
): (line: AuditLine) => boolean {
  const start = since === undefined ? undefined : since.kind === "at" ? since.ms : now - since.ms;
  const isAsked = tool === undefined ? undefined : compileGlob(tool);
  return (line) => {
    if (start !== undefined && !(Date.parse(line.time) >= start)) return false;
    if (line.type === "lost") return true;
    if (server !== undefined && line.server !== server) return false;
    return isAsked === undefined || isAsked(line.tool) || isAsked(`${line.server}/${line.tool}`);
  };
}
