// `plugboard audit`: which calls were made, and what became of them.

import { join } from "node:path";
import { queryAudit } from "../../board/audit.ts";
import { findConfig } from "../../config/find.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import type { AuditLine } from "../../model/audit-entry.ts";
import { PlugboardError } from "../../model/errors.ts";
import { auditRow, auditTable } from "./audit-view.ts";
import type { CliContext } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import type { AuditCommand } from "./invocation.ts";

const LAST = 50;
const LAST_BEFORE_FOLLOWING = 10;

export async function runAudit(command: AuditCommand, context: CliContext): Promise<number> {
  const { screen, options, clock, signal } = context;
  const { server, tool, since, follow, limit = follow ? LAST_BEFORE_FOLLOWING : LAST } = command;
  const file = await auditFile(context);
  const start = since?.kind === "ago" ? clock.now() - since.ms : since?.ms;
  const query = { server, tool, since: start };
  const lines = queryAudit(query, { file, follow, last: limit, signal, clock });
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
      if (all.length === 0) screen.note(`no such call is on record in ${file}`);
    }
  } catch (cause) {
    if (cause instanceof PlugboardError || !(cause instanceof Error && "code" in cause))
      throw cause;
    throw new PlugboardError("CONFIG_INVALID", `${file} cannot be read (${String(cause.code)})`, {
      cause,
      hint: "check its permissions, or audit.file in the configuration",
    });
  }
  return EXIT.ok;
}

/** Where the configuration says; without one, or a word of it there, in Plugboard's own place. */
async function auditFile({ io, options }: CliContext): Promise<string> {
  const { env, cwd, homedir } = io;
  const { config: flag, agent } = options;
  const source = findConfig({ env, cwd, homedir, ...(flag !== undefined && { flag }) });
  const configured =
    source.kind === "file"
      ? (await loadConfig(source.path, agent, { cwd, homedir })).audit?.file
      : undefined;
  return configured ?? join(plugboardHome(env, homedir), "audit.jsonl");
}
