// Asks the person at the terminal whether a call may be made.

import type { ApprovalAnswer, ApprovalRequest } from "../../../model/approval.ts";
import { truncate } from "../../../util/text.ts";
import { ask } from "../terminal/input.ts";
import type { CliContext } from "../context.ts";
import { visible } from "../terminal/visible.ts";

const MAX_ARGUMENTS = 4000;
const MAX_DESCRIPTION = 600;

export async function askApproval(
  request: ApprovalRequest,
  gone: AbortSignal | undefined,
  { io, screen, signal }: CliContext,
): Promise<ApprovalAnswer> {
  const resume = screen.hush();
  try {
    for (const line of questionLines(request)) screen.note(line);
    const until = gone === undefined ? signal : AbortSignal.any([signal, gone]);
    return answerOf(await ask("Call it? [y]es, [a]lways, [N]o ", io, until));
  } finally {
    resume();
  }
}

function questionLines({
  tool,
  title,
  description,
  args,
  reason,
  hints,
  trusted,
}: ApprovalRequest) {
  const said = Object.entries(hints).map(([hint, value]) => `${hint}: ${value}`);
  const source = trusted ? "it says of itself" : "it says of itself, unproven";
  return [
    `${visible(tool)} is to be called${title === undefined ? "" : ` (${visible(title)})`}: ${reason}`,
    ...(description === undefined ? [] : [`  ${visible(truncate(description, MAX_DESCRIPTION))}`]),
    ...(said.length === 0 ? [] : [`  ${source}: ${said.join(", ")}`]),
    `  arguments: ${visible(truncate(JSON.stringify(args), MAX_ARGUMENTS))}`,
  ];
}

function answerOf(line: string): ApprovalAnswer {
  const word = line.trim();
  if (/^y(?:es)?$/i.test(word)) return "once";
  return /^a(?:lways)?$/i.test(word) ? "always" : "refuse";
}
