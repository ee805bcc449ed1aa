// Asks the person at the terminal to approve a call, or tells them how to allow it where they cannot be asked.

import { approvalText } from "../../core/tools/approval-text.ts";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../core/types/approval.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { askLine } from "../terminal/input.ts";
import { wrap, wrapIndented } from "../terminal/width.ts";
import { isAttended } from "./attended.ts";

export function approvalPrompt(context: CliContext): AskApproval {
  const { io, screen, signal } = context;
  return async (request, gone) => {
    const resume = screen.pauseLive();
    try {
      // stdin has ended if the arguments were typed into it.
      if (!isAttended(context) || !io.stdin.readable) return refuseUnasked(request, context);
      const until = gone === undefined ? signal : AbortSignal.any([signal, gone]);
      const asked = { ...context, signal: until };
      const isCut = show(request, context, false);
      const { content, always: term } = request;
      const believed =
        context.options.typed === undefined && request.believable ? request.server : undefined;
      const what = content === undefined ? "call" : "read";
      const always = `[a]lways ${term === "until-changed" ? `until ${content === undefined ? "the tool" : "its description"} changes` : "in this session"}`;
      const believe = believed === undefined ? "" : `[b]elieve what ${visible(believed)} says, `;
      const ask = (more: string): Promise<string> =>
        askLine(`Allow this ${what}? [y]es, ${always}, ${believe}${more}[N]o `, asked);
      let answer = await ask(isCut ? "[s]how everything, " : "");
      if (isCut && /^s(?:how)?$/i.test(answer.trim())) {
        show(request, context, true);
        answer = await ask("");
      }
      if (believed === undefined || !/^b(?:elieve)?$/i.test(answer.trim())) return answerOf(answer);
      await context.believeLabels(believed);
      return "once";
    } finally {
      resume();
    }
  };
}

/** True if something was left out. */
function show(request: ApprovalRequest, { screen }: CliContext, full: boolean): boolean {
  const { question, described, about, args, leftOut } = approvalText(request, full);
  const { width } = screen.terminal.err;
  const room = Math.max(20, (width ?? Infinity) - 4);
  const own = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => wrapIndented(line, width));
  const lines = [
    ...own([question, ...(described.length === 0 ? [] : ["  its server describes it as:"])]),
    // Every line of the server's stands behind a bar, so that none passes for one of ours.
    ...described.flatMap((line) => wrap(line, room).map((part) => `  │ ${part}`)),
    ...own([
      ...about.map((line) => `  ${line}`),
      ...(args.length === 0 ? ["  without arguments"] : ["  arguments:"]),
      ...args.map((line) => `    ${line}`),
      ...(leftOut === undefined ? [] : [`  not shown: ${leftOut}`]),
    ]),
  ];
  for (const line of lines) screen.note(line);
  return leftOut !== undefined;
}

function refuseUnasked(request: ApprovalRequest, context: CliContext): never {
  const isCut = show(request, context, false);
  if (isCut)
    context.screen.note("  plugboard ask --json prints the arguments of every call in full");
  if (request.mayWait === true) {
    context.screen.note(
      "  it waits for your answer in the gateway's page; or, elsewhere: plugboard approvals",
    );
  }
  const message = `${oneLine(request.tool, 200)} needs your approval, and there is no terminal to ask you on`;
  throw new PlugboardError("NOT_APPROVED", message, {
    server: request.server,
    hint: 'run the command again with --yes to allow it, or set its "approval" to "never" in the configuration',
  });
}

function answerOf(line: string): ApprovalAnswer {
  const word = line.trim();
  if (/^y(?:es)?$/i.test(word)) return "once";
  return /^a(?:lways)?$/i.test(word) ? "always" : "refuse";
}
