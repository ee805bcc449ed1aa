// `plugboard approvals`: lists the tools that the user has always allowed, and forgets them.

import { plugboardHome } from "../../../config/home.ts";
import type { StoredApproval } from "../../../model/approval.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { openFileState } from "../../../state/files/open.ts";
import { compileGlob } from "../../../util/glob.ts";
import { oneLine } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { localTime } from "../terminal/local-time.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { ApprovalsCommand } from "./command.ts";

const COLUMNS: readonly Column[] = [
  { title: "TOOL", min: 12 },
  { title: "AGENT", min: 6 },
  { title: "ALLOWED", min: 10 },
  { title: "CONFIGURATION", min: 12 },
];

export async function runApprovals(
  { action }: ApprovalsCommand,
  context: CliContext,
): Promise<number> {
  const { io, clock, screen, options } = context;
  const { approvals } = openFileState(plugboardHome(io.env, io.homedir), { clock });
  const all = (await approvals.list()).filter(
    ({ agent }) => options.agent === undefined || agent === options.agent,
  );
  if (action.kind === "list") {
    listApprovals(all, context);
    return EXIT.ok;
  }
  const forgotten = action.kind === "forget-all" ? all : matching(action.pattern, all);
  await approvals.forget(forgotten);
  if (options.json) screen.json({ forgotten: forgotten.map(toJson) });
  else screen.lines(forgotten.map(({ tool }) => `forgot ${oneLine(tool)}`));
  if (forgotten.length === 0) screen.note("there is nothing to forget");
  return EXIT.ok;
}

function listApprovals(all: readonly StoredApproval[], { screen, options }: CliContext): void {
  if (options.json) return screen.json({ approvals: all.map(toJson) });
  const rows = all.map(({ tool, agent, at, config = "" }) => ({
    cells: [tool, agent, localTime(at), config],
  }));
  const { width, paint } = screen.terminal.out;
  if (rows.length > 0) screen.lines(renderTable(COLUMNS, rows, { width, paint }));
  else screen.note('you have not answered "always" for any tool');
}

/** A pattern without a slash is a server, or a native tool. */
function matching(pattern: string, all: readonly StoredApproval[]): StoredApproval[] {
  const patterns = pattern.includes("/") ? [pattern] : [`${pattern}/*`, `native/${pattern}`];
  const matchers = patterns.map(compileGlob);
  const found = all.filter(({ tool }) => matchers.some((matches) => matches(tool)));
  if (found.length > 0) return found;
  const message = `no approval matches '${oneLine(pattern, 200)}'`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: "to list them: plugboard approvals",
  });
}

function toJson({ agent, config, tool, hash, at }: StoredApproval): object {
  return {
    tool,
    agent,
    ...(config !== undefined && { config }),
    hash,
    allowedAt: new Date(at).toISOString(),
  };
}
