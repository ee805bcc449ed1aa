// Answers prompts through the agent's loop with the session's model, and shows what happens as updates to the editor.

import { randomUUID } from "node:crypto";
import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { runTurn, type TurnEvent, type TurnOptions, type TurnResult } from "../../loop/loop.ts";
import type { AgentModel } from "../../loop/model.ts";
import type { Models } from "../../loop/models.ts";
import { leftOutTools } from "../../loop/offered-tools.ts";
import { PromptResources } from "../../loop/prompt-resources.ts";
import { sampleModel } from "../../loop/sample.ts";
import { switchModel } from "../../loop/switch-model.ts";
import { systemPrompt, WHO } from "../../loop/system-prompt.ts";
import { describePlan, planPrompt } from "../../../core/board/prompt-plan.ts";
import { PromptTools } from "../../../core/board/prompt-tools.ts";
import { prepareModelTools } from "../../../core/tools/model-tools.ts";
import { cancelled } from "../../../core/types/errors.ts";
import type { SamplingOptions } from "../../../core/types/sampling.ts";
import { untilAborted } from "../../../util/abort.ts";
import { capitalised, duration, plural } from "../../../util/text.ts";
import { callEnded, callProgressed, callStarted } from "../calls/tool-calls.ts";
import { spoken } from "../wire/content.ts";
import { toHistory } from "./recorded-conversation.ts";
import type { ClientSystemPrompt } from "../wire/params.ts";
import type { ModelChoice, PromptContext, Responder, ResponderSettings } from "./responder.ts";

const IGNORED_PROMPT =
  "The client's system prompt is ignored: the configuration has one, and a client can only append to it";

export interface ModelResponderOptions extends Pick<TurnOptions, "maxSteps" | "clock"> {
  models: Pick<Models, "ids" | "open">;
  systemPrompt: string | undefined;
  /** Says which model is used, where nobody has chosen one. */
  notice?: string;
}

/** The conversation so far, and the model that it was written for. */
interface ModelConversation {
  model: string;
  messages: TurnResult["history"];
}

/** For one session: remembers its conversation. A model that no longer exists is not used. */
export function modelResponder(
  past: readonly SessionUpdate[],
  { models, systemPrompt: configured, notice, ...options }: ModelResponderOptions,
  { model: chosen, systemPrompt: asked }: ResponderSettings = {},
): Responder & { models: ModelChoice } {
  let current = models.ids.find((id) => id === chosen) ?? models.ids[0];
  // The configuration decides the system prompt of the agent; a client may only add to it.
  const isIgnored = typeof asked === "string" && configured !== undefined;
  const introduction = isIgnored ? configured : withClientPrompt(configured, asked);
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

  /** The tools of the running prompt, which depend on the present mode of the session. */
  let currentTools: PromptContext["tools"] = () => [];
  let selection: PromptTools | undefined;

  const answer = async (context: PromptContext): Promise<StopReason> => {
    const { board, signal, prompt, notify } = context;
    currentTools = context.tools;
    selection ??= new PromptTools({
      tools: () => currentTools(),
      search: (query, given) => board.search(query, given),
      toolSearch: () => board.toolSearch,
    });
    const model = await untilAborted(models.open(current), signal, cancelled);
    const reading = resources.read(board.resources, model);
    const { context: blocks, news } = await untilAborted(reading, signal, cancelled);
    if (news !== undefined) notify(capitalised(news), "info");
    let isSilent = true;
    const said = new SpokenAnswer();
    const result = await runTurn({
      ...options,
      model,
      system: systemPrompt(introduction, board.status()),
      context: blocks,
      history: await historyFor(model, context),
      prompt,
      tools: selection,
      signal,
      onEvent: (event) => {
        if (event.type === "text" || event.type === "tool_call") isSilent = false;
        // What holds for the whole session is said once.
        if (event.type === "notice" && notices.has(event.text)) return;
        if (event.type === "notice") notices.add(event.text);
        show(event, said, context);
      },
    });
    if (isSilent && result.end.reason === "end_turn") notify("The model's answer is empty.");
    conversation = { model: model.id, messages: result.history };
    if (result.end.reason === "failed") throw result.end.error;
    return result.end.reason;
  };

  const sampling: SamplingOptions = {
    tools: true,
    async handler(request) {
      const model = await untilAborted(models.open(current), request.signal, cancelled);
      return sampleModel(request, { model, clock: options.clock });
    },
  };

  return {
    answer,
    notice: notice && capitalised(notice),
    ignoresPrompt: isIgnored ? IGNORED_PROMPT : undefined,
    load: () =>
      models.open(current).then(
        () => {},
        // The first prompt reports why the model cannot be used.
        () => {},
      ),
    prepare(tools) {
      void models.open(current).then(
        (model) => prepareModelTools(tools, model.schemas),
        // The next prompt reports why the model cannot be used.
        () => {},
      );
    },
    leftOut: (tools) =>
      models.open(current).then(
        (model) => leftOutTools(tools, model),
        () => [],
      ),
    toolSearch: (given, toolSearch) =>
      models.open(current).then(
        ({ contextWindow }) => describePlan(planPrompt(given, { toolSearch, contextWindow })),
        () => undefined,
      ),
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

function withClientPrompt(
  configured: string | undefined,
  asked: ClientSystemPrompt | undefined,
): string | undefined {
  if (asked === undefined) return configured;
  return typeof asked === "string" ? asked : [configured ?? WHO, asked.append].join("\n\n").trim();
}

/** What the model says in one step: a message of thoughts and one of text. A second attempt replaces the first. */
class SpokenAnswer {
  #ids = new Map<string, string>();
  #replaced: string[] = [];

  /** The model is asked for its next step. */
  begin(): void {
    this.#ids.clear();
    this.#replaced = [];
  }

  /** The model is asked for the same step again. The editor shows its earlier words until there are new ones. */
  repeat(): void {
    this.#replaced.push(...this.#ids.values());
    this.#ids.clear();
  }

  piece(kind: "agent_message_chunk" | "agent_thought_chunk", text: string): SessionUpdate {
    const id = this.#ids.get(kind) ?? randomUUID();
    this.#ids.set(kind, id);
    return spoken(kind, text, id, this.#replaced.splice(0));
  }
}

function show(event: TurnEvent, said: SpokenAnswer, { board, emit, notify }: PromptContext): void {
  switch (event.type) {
    case "text":
      return emit(said.piece("agent_message_chunk", event.text));
    case "thought":
      return emit(said.piece("agent_thought_chunk", event.text));
    case "tool_call":
      return emit(callStarted(event, board.cwd));
    case "tool_update":
      return callProgressed(event.id, event.update).forEach(emit);
    case "tool_result":
      return emit(callEnded(event.id, event.outcome));
    case "usage":
      return emit({ sessionUpdate: "usage_update", used: event.used, size: event.window });
    case "retry":
      said.repeat();
      return notify(`${capitalised(event.reason)}. Asking again in ${duration(event.delayMs)} …`);
    case "compaction":
      return notify(
        `The conversation no longer fits into the model's context window: left out ` +
          `${plural(event.results, "tool result")} and ${plural(event.messages, "earlier message")}`,
      );
    case "notice":
      return notify(capitalised(event.text));
    case "step":
      return said.begin();
  }
}
