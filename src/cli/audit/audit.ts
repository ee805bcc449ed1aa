// `plugboard audit`: shows which calls were made, and their results.

import { loadConfig } from "../../core/config/load.ts";
import { auditFilter } from "../../core/state/audit-filter.ts";
import type { AuditLine } from "../../core/types/audit-entry.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { AuditTrail } from "../../core/types/shared-state.ts";
import { auditIn } from "../../core/state/files/audit-file.ts";
import { plural } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { withSharedState } from "../shared-state.ts";
import { loadTrusted } from "../trust/load-trusted.ts";
import type { AuditRequest } from "./command.ts";
import { auditRow, auditTable } from "./view.ts";

const LAST = 50;
const LAST_BEFORE_FOLLOWING = 10;

const NO_END =
  'a call with "no end" still runs, or its host was killed in the middle of it; it may have taken effect';

export async function runAudit(command: AuditRequest, context: CliContext): Promise<number> {
  const configured = await configuredFile(context);
  if (configured !== undefined) {
    return showAudit(command, auditIn(configured, { clock: context.clock }), context);
  }
  return withSharedState(context, ({ audit }) => showAudit(command, audit, context));
}

async function showAudit(
  command: AuditRequest,
  trail: AuditTrail,
  { screen, options, clock, signal }: CliContext,
): Promise<number> {
  const { server, tool, caller, since, follow } = command;
  const { limit = follow ? LAST_BEFORE_FOLLOWING : LAST } = command;
  const file = trail.where;
  const start = since?.kind === "ago" ? clock.now() - since.ms : since?.ms;
  const filter = auditFilter({ server, tool, caller, since: start });
  let damaged = 0;
  const onDamage = (): void => {
    damaged += 1;
  };
  const lines = trail.read({ follow, last: limit, signal, onDamage, filter });
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
      if (all.length === 0) {
        const isAny = [server, tool, caller, since].every((each) => each === undefined);
        screen.note(`${isAny ? "no calls yet" : "no matching calls"} in ${file}`);
      }
      if (all.some(({ type }) => type === "start")) screen.note(NO_END);
    }
  } catch (cause) {
    if (cause instanceof PlugboardError || !(cause instanceof Error && "code" in cause))
      throw cause;
    throw new PlugboardError("CONFIG_INVALID", `cannot read ${file} (${String(cause.code)})`, {
      cause,
      hint: "check its permissions, or audit.file in the configuration",
    });
  }
  const obstacle = await trail.obstacle();
  if (obstacle !== undefined) {
    screen.note(obstacle.message);
    screen.note(`hint: ${obstacle.hint}`);
  }
  if (damaged === 0) return EXIT.ok;
  screen.note(
    `plugboard: the audit is damaged: ${plural(damaged, "line")} of ${file} or of the files it was rotated to cannot be read`,
  );
  screen.note(
    "hint: the disk was full, a host or the machine was stopped while writing, or somebody changed the file",
  );
  return EXIT.incomplete;
}

/** Undefined: the audit is where the gateway has it, by default in Plugboard's home directory. */
async function configuredFile(context: CliContext): Promise<string | undefined> {
  const { cwd, homedir } = context.io;
  const source = findSource(context);
  if (source.kind !== "file") return undefined;
  // A project's file that nobody has trusted must not name another audit, and so hide the calls of your own servers.
  if (source.base !== undefined) return (await loadTrusted(source, context))?.agent.audit?.file;
  return (await loadConfig(source.path, context.options.agent, { cwd, homedir })).audit?.file;
}
