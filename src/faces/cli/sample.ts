// Lets a server ask the model of `plugboard ask`, as far as the configuration or the person at the terminal
// agrees.

import type { AgentModel } from "../../agent/model.ts";
import { samplingText } from "../../agent/sampling-text.ts";
import type { SamplingOptions, SamplingRequest } from "../../model/sampling.ts";
import { QuestionQueue } from "../../util/question-queue.ts";
import { ask } from "./ask.ts";
import type { CliContext } from "./context.ts";
import { isAttended } from "./elicit.ts";
import { visible } from "./visible.ts";

export interface SamplingSettings {
  /** Everything is agreed to. */
  yes: boolean;
  /** Undefined while there is none. */
  model: () => AgentModel | undefined;
}

export function samplingPrompt(
  context: CliContext,
  { yes, model }: SamplingSettings,
): SamplingOptions {
  const { clock } = context;
  const allowed = new Set<string>();
  const questions = new QuestionQueue();
  const isAgreed = async (request: SamplingRequest): Promise<boolean> => {
    const { server, approvalRequired } = request;
    if (yes || !approvalRequired || allowed.has(server)) return true;
    if (!isAttended(context) || !context.io.stdin.readable) return false;
    const answer = await askPerson(request, context);
    if (/^a(?:lways)?$/i.test(answer)) allowed.add(server);
    return allowed.has(server) || /^y(?:es)?$/i.test(answer);
  };
  return {
    tools: true,
    async handler(request) {
      const asked = model();
      if (asked === undefined) return "declined";
      // One at a time: what is answered to the first may hold for the next.
      if (!(await questions.ask(questions, request.signal, () => isAgreed(request))))
        return "declined";
      const { sampleModel } = await import("../../agent/sample.ts");
      return sampleModel(request, { model: asked, clock });
    },
  };
}

async function askPerson(
  request: SamplingRequest,
  { io, screen, signal }: CliContext,
): Promise<string> {
  const { server, tool } = request;
  const resume = screen.hush();
  try {
    const during = tool === undefined ? "" : ` during ${visible(tool)}`;
    screen.note(`${visible(server)} wants to ask the model${during}:`);
    for (const line of samplingText(request).split("\n")) screen.note(`  ${visible(line)}`);
    const until = AbortSignal.any([signal, request.signal]);
    return (await ask("Let it? [y]es, [a]lways, [N]o ", io, until)).trim();
  } finally {
    resume();
  }
}
