// Answers a prompt through the agent's loop, with the model that the session has chosen, and shows what happens
// in it as the editor's updates.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { TurnOptions, TurnResult } from "../../../agent/loop.ts";
import type { AgentModel } from "../../../agent/model.ts";
import type { Models } from "../../../agent/models.ts";
import { systemPrompt } from "../../../agent/system-prompt.ts";
import type { TurnEvent } from "../../../agent/turn-event.ts";
import { cancelled, PlugboardError } from "../../../model/errors.ts";
import type { SamplingOptions } from "../../../model/sampling.ts";
import { untilAborted } from "../../../util/abort.ts";
import { capitalised, duration, plural } from "../../../util/text.ts";
import { textBlock } from "../wire/content.ts";
import type { ModelChoice, Responder, Turn } from "./responder.ts";
import { callEnded, callProgressed, callStarted } from "../calls/tool-calls.ts";

export interface ModelResponderOptions extends Pick<TurnOptions, "maxSteps" | "clock"> {
  models: Pick<Models, "ids" | "open" | "warmUp">;
  systemPrompt: string | undefined;
}

/** The conversation, and the model that it was written for. */
interface Conversation {
  model: string;
  messages: TurnResult["history"];
}

/** For one session: it remembers what was said. `chosen` counts where there still is such a model. */
export function modelResponder(
  past: readonly SessionUpdate[],
  { models, systemPrompt: configured, ...options }: ModelResponderOptions,
  chosen?: string,
): Responder & { models: ModelChoice } {
  let current = models.ids.find((id) => id === chosen) ?? models.ids[0];
  let choices = 0;
  let conversation: Conversation | undefined;

  const goOn = async (model: AgentModel, turn: Turn): Promise<TurnResult["history"]> => {
    if (conversation === undefined) {
      if (past.length === 0) return [];
      const { toHistory } = await import("./recorded-conversation.ts");
      return toHistory(past, { media: model.media, tools: turn.board.tools() });
    }
    if (conversation.model === model.id) return conversation.messages;
    const { handOver } = await import("../../../agent/hand-over.ts");
    return handOver(conversation.messages, model.media);
  };

  const answer = async (turn: Turn): Promise<StopReason> => {
    const { board, signal, prompt } = turn;
    const opening = Promise.all([models.open(current), import("../../../agent/loop.ts")]);
    const [model, { runTurn }] = await untilAborted(opening, signal, cancelled);
    const context = await untilAborted(board.resources.context(), signal, cancelled);
    let isSilent = true;
    const result = await runTurn({
      ...options,
      model,
      system: systemPrompt(configured, board.status()),
      context,
      history: await goOn(model, turn),
      prompt,
      tools: () => turn.tools(),
      signal,
      onEvent: (event) => {
        if (event.type === "text" || event.type === "tool_call") isSilent = false;
        show(event, turn);
      },
    });
    if (isSilent && result.end.reason === "end_turn") turn.notify("The model's answer is empty.");
    conversation = { model: model.id, messages: result.history };
    return stopReason(result, turn);
  };

  const sampling: SamplingOptions = {
    tools: true,
    async handler(request) {
      const asking = Promise.all([models.open(current), import("../../../agent/sample.ts")]);
      const [model, { sampleModel }] = await untilAborted(asking, request.signal, cancelled);
      const { clock } = options;
      return sampleModel(request, { model, ...(clock !== undefined && { clock }) });
    },
  };

  return {
    async answer(turn) {
      try {
        return await answer(turn);
      } catch (error) {
        if (!(error instanceof PlugboardError) || turn.signal.aborted) throw error;
        // The model cannot be used: commands work on.
        turn.say(inSentences(error));
        return "end_turn";
      }
    },
    warmUp: () => models.warmUp(current),
    prepare(tools) {
      void Promise.all([models.open(current), import("../../../agent/offer.ts")]).then(
        ([model, { prepareOffer }]) => prepareOffer(tools, model),
        // Told of where somebody asks it.
        () => {},
      );
    },
    sampling,
    models: {
      get current() {
        return current;
      },
      options: models.ids.map((id) => ({ id, name: id })),
      async choose(id) {
        choices += 1;
        const mine = choices;
        await models.open(id);
        // Another may have been chosen since, and opened sooner.
        if (mine === choices) current = id;
      },
    },
  };
}

function stopReason({ end }: TurnResult, turn: Turn): StopReason {
  if (end.reason !== "failed") return end.reason;
  turn.say(inSentences(end.error));
  return "end_turn";
}

/** In sentences, since it is said in a conversation. */
function inSentences({ message, hint }: PlugboardError): string {
  const what = capitalised(message);
  return hint === undefined ? `${what}.` : `${what}. ${capitalised(hint)}`;
}

function show(event: TurnEvent, { board, emit, notify }: Turn): void {
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
        `The conversation has outgrown the model: ${plural(event.results, "tool result")} and ` +
          `${plural(event.messages, "earlier message")} left out`,
      );
    case "notice":
      return notify(event.text);
    case "step":
      return undefined;
  }
}
