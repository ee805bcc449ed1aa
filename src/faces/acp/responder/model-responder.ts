// Answers prompts through the agent's loop with the session's model, and shows what happens as updates to the editor.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { runTurn, type TurnEvent, type TurnOptions, type TurnResult } from "../../../agent/loop.ts";
import type { AgentModel } from "../../../agent/model.ts";
import type { Models } from "../../../agent/models.ts";
import { PromptResources } from "../../../agent/prompt-resources.ts";
import { sampleModel } from "../../../agent/sample.ts";
import { switchModel } from "../../../agent/switch-model.ts";
import { systemPrompt } from "../../../agent/system-prompt.ts";
import { prepareModelTools } from "../../../bridge/model-tools.ts";
import { cancelled, PlugboardError } from "../../../model/errors.ts";
import type { SamplingOptions } from "../../../model/sampling.ts";
import { untilAborted } from "../../../util/abort.ts";
import { capitalised, duration, plural } from "../../../util/text.ts";
import { callEnded, callProgressed, callStarted } from "../calls/tool-calls.ts";
import { textBlock } from "../wire/content.ts";
import { toHistory } from "./recorded-conversation.ts";
import type { ModelChoice, PromptContext, Responder } from "./responder.ts";

export interface ModelResponderOptions extends Pick<TurnOptions, "maxSteps" | "clock"> {
  models: Pick<Models, "ids" | "open" | "warmUp">;
  systemPrompt: string | undefined;
}

/** The conversation so far, and the model that it was written for. */
interface ModelConversation {
  model: string;
  messages: TurnResult["history"];
}

/** For one session: remembers its conversation. `chosen` is ignored if there is no such model any more. */
export function modelResponder(
  past: readonly SessionUpdate[],
  { models, systemPrompt: configured, ...options }: ModelResponderOptions,
  chosen?: string,
): Responder & { models: ModelChoice } {
  let current = models.ids.find((id) => id === chosen) ?? models.ids[0];
  let choices = 0;
  let conversation: ModelConversation | undefined;
  const resources = new PromptResources();
  const notices = new Set<string>();

  const historyFor = async (
    model: AgentModel,
    { board }: PromptContext,
  ): Promise<TurnResult["history"]> => {
    if (conversation === undefined) {
      return toHistory(past, { media: model.media, tools: board.tools() });
    }
    if (conversation.model === model.id) return conversation.messages;
    return switchModel(conversation.messages, model.media);
  };

  const answer = async (context: PromptContext): Promise<StopReason> => {
    const { board, signal, prompt, tools, notify } = context;
    const model = await untilAborted(models.open(current), signal, cancelled);
    const reading = resources.read(board.resources, model);
    const { context: blocks, news } = await untilAborted(reading, signal, cancelled);
    if (news !== undefined) notify(capitalised(news));
    let isSilent = true;
    const result = await runTurn({
      ...options,
      model,
      system: systemPrompt(configured, board.status()),
      context: blocks,
      history: await historyFor(model, context),
      prompt,
      tools,
      signal,
      onEvent: (event) => {
        if (event.type === "text" || event.type === "tool_call") isSilent = false;
        // What holds for the whole session is said once.
        if (event.type === "notice" && notices.has(event.text)) return;
        if (event.type === "notice") notices.add(event.text);
        show(event, context);
      },
    });
    if (isSilent && result.end.reason === "end_turn") notify("The model's answer is empty.");
    conversation = { model: model.id, messages: result.history };
    if (result.end.reason !== "failed") return result.end.reason;
    context.say(inSentences(result.end.error));
    return "end_turn";
  };

  const sampling: SamplingOptions = {
    tools: true,
    async handler(request) {
      const model = await untilAborted(models.open(current), request.signal, cancelled);
      return sampleModel(request, { model, clock: options.clock });
    },
  };

  return {
    async answer(context) {
      try {
        return await answer(context);
      } catch (error) {
        if (!(error instanceof PlugboardError) || context.signal.aborted) throw error;
        // The model cannot be used; the session's commands still work.
        context.say(inSentences(error));
        return "end_turn";
      }
    },
    warmUp: () => models.warmUp(current),
    prepare(tools) {
      void models.open(current).then(
        (model) => prepareModelTools(tools, model.schemas),
        // The next prompt reports why the model cannot be used.
        () => {},
      );
    },
    sampling,
    models: {
      get current() {
        return current;
      },
      ids: models.ids,
      async choose(id) {
        choices += 1;
        const choice = choices;
        await models.open(id);
        // The user may have chosen another model while this one was opening.
        if (choice === choices) current = id;
      },
    },
  };
}

function inSentences({ message, hint }: PlugboardError): string {
  const what = capitalised(message);
  return hint === undefined ? `${what}.` : `${what}. ${capitalised(hint)}`;
}

function show(event: TurnEvent, { board, emit, notify }: PromptContext): void {
  switch (event.type) {
    case "text":
      return emit({ sessionUpdate: "agent_message_chunk", content: textBlock(event.text) });
    case "thought":
      return emit({ sessionUpdate: "agent_thought_chunk", content: textBlock(event.text) });
    case "tool_call":
      return emit(callStarted(event, board.cwd));
    case "tool_update":
      return callProgressed(event.id, event.update).forEach(emit);
    case "tool_result":
      return emit(callEnded(event.id, event.outcome));
    case "usage":
      return emit({ sessionUpdate: "usage_update", used: event.used, size: event.window });
    case "retry":
      return notify(`${capitalised(event.reason)}. Asking again in ${duration(event.delayMs)} …`);
    case "compaction":
      return notify(
        `The conversation no longer fits into the model's context window: left out ` +
          `${plural(event.results, "tool result")} and ${plural(event.messages, "earlier message")}`,
      );
    case "notice":
      return notify(capitalised(event.text));
    case "step":
      return undefined;
  }
}
