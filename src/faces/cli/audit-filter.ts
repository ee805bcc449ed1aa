// Which lines of an audit somebody asks for.

import type { AuditLine } from "../../guard/audit/entry.ts";
import type { AuditCommand } from "./invocation.ts";

/** Lines that say what is missing pass whenever their time does: they may stand for anything. */
export function auditFilter(
  { server, tool, since }: Pick<AuditCommand, "server" | "tool" | "since">,
  now: number,
): (line: AuditLine) => boolean {
  const start = since === undefined ? undefined : since.kind === "at" ? since.ms : now - since.ms;
  return (line) => {
    if (start !== undefined && !(Date.parse(line.time) >= start)) return false;
    if (line.type === "lost") return true;
    if (server !== undefined && line.server !== server) return false;
    if (tool === undefined) return true;
    return matches(tool, line.tool) || matches(tool, `${line.server}/${line.tool}`);
  };
}

/** `*` is any text. Never goes back further than one star, so it takes no more than pattern times text. */
export function matches(pattern: string, text: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  const end = rest.pop();
  if (end === undefined) return text === start;
  if (text.length < start.length + end.length) return false;
  if (!text.startsWith(start) || !text.endsWith(end)) return false;
  const middle = text.slice(start.length, text.length - end.length);
  let at = 0;
  for (const part of rest) {
    const found = middle.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}
