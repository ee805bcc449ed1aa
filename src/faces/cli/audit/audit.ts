// `plugboard audit`: shows which calls were made, and their results.

import { join } from "node:path";
import { plugboardHome } from "../../../config/home.ts";
import { loadConfig } from "../../../config/load.ts";
import type { AuditLine } from "../../../guard/audit/entry.ts";
import { readAudit } from "../../../guard/audit/read-audit.ts";
import { compileGlob } from "../../../guard/glob.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../open.ts";
import type { AuditCommand } from "./command.ts";
import { auditRow, auditTable } from "./view.ts";

const LAST = 50;
const LAST_BEFORE_FOLLOWING = 10;

export async function runAudit(command: AuditCommand, context: CliContext): Promise<number> {
  const { screen, options, clock, signal } = context;
  const { follow, limit = follow ? LAST_BEFORE_FOLLOWING : LAST } = command;
  const file = await auditFile(context);
  const filter = auditFilter(command, clock.now());
  const lines = readAudit({ file, follow, filter, last: limit, signal, clock });
  const { out } = screen.terminal;
  try {
    if (options.json) {
      for await (const line of lines) screen.jsonLine(line);
    } else if (follow) {
      for await (const line of lines) screen.out(`${auditRow(line, out)}\n`);
    } else {
      const all: AuditLine[] = [];
      for await (const line of lines) all.push(line);
      screen.lines(auditTable(all, out));
      if (all.length === 0) screen.note(`no matching calls in ${file}`);
    }
  } catch (cause) {
    if (cause instanceof PlugboardError || !(cause instanceof Error && "code" in cause))
      throw cause;
    throw new PlugboardError("CONFIG_INVALID", `cannot read ${file} (${String(cause.code)})`, {
      cause,
      hint: "check its permissions, or audit.file in the configuration",
    });
  }
  return EXIT.ok;
}

/** Lines that report lost entries pass any filter but the time: a lost entry may have been any call. */
export function auditFilter(
  { server, tool, since }: Pick<AuditCommand, "server" | "tool" | "since">,
  now: number,
): (line: AuditLine) => boolean {
  const start = since === undefined ? undefined : since.kind === "at" ? since.ms : now - since.ms;
  const matchesTool = tool === undefined ? undefined : compileGlob(tool);
  return (line) => {
    if (start !== undefined && !(Date.parse(line.time) >= start)) return false;
    if (line.type === "lost") return true;
    if (server !== undefined && line.server !== server) return false;
    if (matchesTool === undefined) return true;
    return matchesTool(line.tool) || matchesTool(`${line.server}/${line.tool}`);
  };
}

/** As configured; by default in Plugboard's home directory. */
async function auditFile(context: CliContext): Promise<string> {
  const { env, cwd, homedir } = context.io;
  const source = findSource(context);
  const configured =
    source.kind === "file"
      ? (await loadConfig(source.path, context.options.agent, { cwd, homedir })).audit?.file
      : undefined;
  return configured ?? join(plugboardHome(env, homedir), "audit.jsonl");
}
