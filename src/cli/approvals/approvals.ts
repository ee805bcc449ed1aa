// `plugboard approvals`: shows and answers the calls that wait for approval, lists the tools that the user has always
// allowed, and forgets them.

import type { StoredApproval } from "../../core/types/approval.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { PendingApproval, SharedState } from "../../core/types/shared-state.ts";
import { callerLabels } from "../../serve/gateway/access/caller-label.ts";
import { closest } from "../../util/closest.ts";
import { compileGlob } from "../../util/glob.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withSharedState } from "../shared-state.ts";
import { localTime } from "../terminal/local-time.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { ApprovalsRequest } from "./command.ts";
import { answerWaiting, showWaiting, waitingLines, waitingToJson } from "./waiting.ts";

const COLUMNS: readonly Column[] = [
  { title: "TOOL", min: 12 },
  { title: "AGENT", min: 6 },
  { title: "FOR", min: 6 },
  { title: "ALLOWED", min: 10 },
  { title: "CONFIGURATION", min: 12 },
];

export async function runApprovals(
  { action }: ApprovalsRequest,
  context: CliContext,
): Promise<number> {
  return withSharedState(context, (state) => runAction(action, state, context));
}

async function runAction(
  action: ApprovalsRequest["action"],
  { approvals, pending, tokens }: Pick<SharedState, "approvals" | "pending" | "tokens">,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  if (action.kind === "answer") return answerWaiting(action, pending, context);
  if (action.kind === "show") return showWaiting(action.id, pending, context);
  const isWanted = ({ agent }: { agent: string }): boolean =>
    options.agent === undefined || agent === options.agent;
  const all = (await approvals.list()).filter(isWanted);
  if (action.kind === "list") {
    const labelOf = await callerLabels(tokens);
    listApprovals((await pending.list()).filter(isWanted), all, labelOf, context);
    return EXIT.ok;
  }
  const forgotten = action.kind === "forget-all" ? all : matching(action.pattern, all);
  await approvals.forget(forgotten);
  if (options.json) screen.json({ forgotten: forgotten.map(toJson) });
  else screen.lines(forgotten.map(({ tool }) => `forgot ${oneLine(tool)}`));
  if (forgotten.length === 0) screen.note("there is nothing to forget");
  return EXIT.ok;
}

function listApprovals(
  waiting: readonly PendingApproval[],
  all: readonly StoredApproval[],
  labelOf: (caller: string) => string,
  { screen, clock, options }: CliContext,
): void {
  if (options.json) {
    const approvals = all.map(toJson);
    return screen.json({ waiting: waiting.map(waitingToJson), approvals });
  }
  const { width, paint } = screen.terminal.out;
  for (const each of waiting) screen.lines([...waitingLines(each, clock.now(), width), ""]);
  // Most people have only their own.
  const hasCallers = all.some(({ caller }) => caller !== undefined);
  const hasFiles = all.some(({ config }) => config !== undefined);
  const columns = COLUMNS.filter(
    ({ title }) => (hasCallers || title !== "FOR") && (hasFiles || title !== "CONFIGURATION"),
  );
  const rows = all.map(({ tool, agent, at, caller, config = "" }) => ({
    cells: [
      tool,
      agent,
      ...(hasCallers ? [caller === undefined ? "you" : labelOf(caller)] : []),
      localTime(at),
      ...(hasFiles ? [config] : []),
    ],
  }));
  if (rows.length > 0) screen.lines(renderTable(columns, rows, { width, paint }));
  else if (waiting.length === 0)
    screen.note('no call waits, and you have not answered "always" for any tool');
}

/** A pattern without a slash is a server, or a native tool. */
function matching(pattern: string, all: readonly StoredApproval[]): StoredApproval[] {
  const patterns = pattern.includes("/") ? [pattern] : [`${pattern}/*`, `native/${pattern}`];
  const matchers = patterns.map(compileGlob);
  const found = all.filter(({ tool }) => matchers.some((matches) => matches(tool)));
  if (found.length > 0) return found;
  const message = `no approval matches '${oneLine(pattern, 200)}'`;
  const names = all.map(({ tool }) => (pattern.includes("/") ? tool : (tool.split("/")[0] ?? "")));
  const meant = closest(pattern, names);
  throw new PlugboardError("INVALID_ARGUMENTS", message, {
    hint:
      meant === undefined
        ? "to list them: plugboard approvals"
        : `did you mean '${oneLine(meant, 200)}'?`,
  });
}

function toJson({ agent, config, tool, hash, caller, at }: StoredApproval): object {
  return {
    tool,
    agent,
    ...(config !== undefined && { config }),
    hash,
    ...(caller !== undefined && { caller }),
    allowedAt: new Date(at).toISOString(),
  };
}
