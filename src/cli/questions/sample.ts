// Lets a server use the model of `plugboard ask`, if the configuration or the person at the terminal allows it.

import type { AgentModel } from "../../agent/loop/model.ts";
import { sampleModel } from "../../agent/loop/sample.ts";
import { samplingText } from "../../agent/loop/sampling-text.ts";
import type { SamplingOptions, SamplingRequest } from "../../core/types/sampling.ts";
import { QuestionQueue } from "../../util/question-queue.ts";
import { askLine } from "../terminal/input.ts";
import type { CliContext } from "../context.ts";
import { isAttended } from "./attended.ts";
import { visible } from "../../util/visible.ts";

export interface SamplingSettings {
  /** Allow everything without asking. */
  yes: boolean;
  /** Undefined until the model is open. */
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
      // One question at a time: an "always" to the first also answers the next.
      const { server, signal } = request;
      if (!(await questions.ask(questions, server, signal, () => isAgreed(request))))
        return "declined";
      return sampleModel(request, { model: asked, clock });
    },
  };
}

async function askPerson(request: SamplingRequest, context: CliContext): Promise<string> {
  const { server, tool } = request;
  const { screen } = context;
  const resume = screen.pauseLive();
  try {
    const during = tool === undefined ? "" : ` during ${visible(tool)}`;
    screen.note(`${visible(server)} wants to use the model${during}:`);
    for (const line of samplingText(request).split("\n")) screen.note(`  ${visible(line)}`);
    const signal = AbortSignal.any([context.signal, request.signal]);
    return (await askLine("Allow it? [y]es, [a]lways, [N]o ", { ...context, signal })).trim();
  } finally {
    resume();
  }
}
