// Asks the person at the terminal to approve a call.

import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../../model/approval.ts";
import { truncate } from "../../../util/text.ts";
import { askLine } from "../terminal/input.ts";
import type { CliContext } from "../context.ts";
import { visible } from "../../../util/visible.ts";

const MAX_ARGUMENTS = 4000;
const MAX_DESCRIPTION = 600;

/** Undefined where no person sits at a terminal: then calls that need approval are refused. */
export function approvalPrompt({ io, screen, signal }: CliContext): AskApproval | undefined {
  if (io.stdin.isTTY !== true || !screen.terminal.err.isTerminal) return undefined;
  return async (request, gone) => {
    const resume = screen.pauseLive();
    try {
      for (const line of questionLines(request)) screen.note(line);
      const until = gone === undefined ? signal : AbortSignal.any([signal, gone]);
      return answerOf(await askLine("Allow this call? [y]es, [a]lways, [N]o ", io, until));
    } finally {
      resume();
    }
  };
}

function questionLines(request: ApprovalRequest): string[] {
  const { tool, title, description, args, reason, hints, trusted } = request;
  const claims = Object.entries(hints).map(([hint, value]) => `${hint}: ${value}`);
  const source = trusted ? "self-described" : "self-described, unverified";
  return [
    `${visible(tool)}${title === undefined ? "" : ` (${visible(title)})`} needs your approval: ${reason}`,
    ...(description === undefined ? [] : [`  ${visible(truncate(description, MAX_DESCRIPTION))}`]),
    ...(claims.length === 0 ? [] : [`  ${source}: ${claims.join(", ")}`]),
    `  arguments: ${visible(truncate(JSON.stringify(args), MAX_ARGUMENTS))}`,
  ];
}

function answerOf(line: string): ApprovalAnswer {
  const word = line.trim();
  if (/^y(?:es)?$/i.test(word)) return "once";
  return /^a(?:lways)?$/i.test(word) ? "always" : "refuse";
}
