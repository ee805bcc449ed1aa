// The calls that wait for approval, as a person sees and answers them.

import { approvalText } from "../../core/tools/approval-text.ts";
import type { ApprovalAnswer } from "../../core/types/approval.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { PendingApproval, PendingApprovals } from "../../core/types/shared-state.ts";
import { duration, oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { wrap, wrapIndented } from "../terminal/width.ts";

/** With `full`, nothing is left out. */
export function waitingLines(
  { id, caller, agent, request, expiresAt }: PendingApproval,
  now: number,
  width: number | undefined,
  full = false,
): string[] {
  const { question, described, about, args, leftOut } = approvalText(request, full);
  const room = Math.max(20, (width ?? Infinity) - 4);
  const who = visible(oneLine(caller.label, 100));
  const left = duration(Math.max(0, expiresAt - now));
  const lines = [
    `${id}  ${question}`,
    `  called by ${who} for the agent ${visible(oneLine(agent, 100))}; it waits for another ${left}`,
    // Every line of the server's stands behind a bar, so that none passes for one of ours.
    ...(described.length === 0 ? [] : ["  its server describes it as:"]),
    ...described.flatMap((line) => wrap(line, room).map((part) => `  │ ${part}`)),
    ...about.map((line) => `  ${line}`),
    ...(args.length === 0 ? ["  without arguments"] : ["  arguments:"]),
    ...args.map((line) => `    ${line}`),
    ...(leftOut === undefined
      ? []
      : [`  not shown: ${leftOut}; to see it: plugboard approvals show ${id}`]),
    `  to answer: plugboard approvals allow ${id}, or allow ${id} --always, or refuse ${id}`,
  ];
  return lines.flatMap((line) => wrapIndented(line, width));
}

export function waitingToJson(pending: PendingApproval): object {
  const { id, caller, agent, request, argsHash, createdAt, expiresAt } = pending;
  const { tool, hash, args, reason } = request;
  return {
    id,
    tool,
    agent,
    caller: caller.id,
    label: caller.label,
    hash,
    arguments: args,
    argumentsHash: argsHash,
    reason,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

export async function showWaiting(
  id: string,
  pending: PendingApprovals,
  { screen, clock, options }: CliContext,
): Promise<number> {
  const question = await find(id, pending);
  if (options.json) screen.json(waitingToJson(question));
  else screen.lines(waitingLines(question, clock.now(), screen.terminal.out.width, true));
  return EXIT.ok;
}

export async function answerWaiting(
  { id, answer }: { id: string; answer: ApprovalAnswer },
  pending: PendingApprovals,
  { screen, options }: CliContext,
): Promise<number> {
  const question = await find(id, pending);
  if (!(await pending.answer(question, answer))) throw nobodyWaits(id);
  const { request, caller } = question;
  if (options.json) screen.json({ id: question.id, answer });
  else {
    const what = answer === "refuse" ? "refused" : answer === "once" ? "allowed" : "always allowed";
    screen.lines([`${what} ${visible(oneLine(request.tool))} for ${visible(caller.label)}`]);
  }
  return EXIT.ok;
}

async function find(id: string, pending: PendingApprovals): Promise<PendingApproval> {
  const wanted = id.toLowerCase();
  const found = (await pending.list()).find((each) => each.id === wanted);
  if (found === undefined) throw nobodyWaits(id);
  return found;
}

function nobodyWaits(id: string): PlugboardError {
  const message = `no call waits under the id '${visible(oneLine(id, 100))}'`;
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: "it has been answered, has ended or has waited too long; to see which calls wait: plugboard approvals",
  });
}
