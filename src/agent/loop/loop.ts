// The agent loop, which answers a prompt: it asks the model, runs the tools that the model calls, and asks again with
// their results until the model makes no more calls.

import { randomUUID } from "node:crypto";
import type { ModelMessage, ToolResultPart } from "ai";
import { PromptTools } from "../../core/board/prompt-tools.ts";
import { toPromptContent, toResultOutput } from "../../core/tools/ai-sdk-content.ts";
import {
  failedResult,
  type ModelCall,
  type ModelToolLookup,
  runModelCall,
} from "../../core/tools/model-call.ts";
import type { ModelTool, ModelTools } from "../../core/tools/model-tools.ts";
import { safeName } from "../../core/tools/provider-name.ts";
import type { ContentBlock } from "../../core/types/content.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type { CallOutcome, Tool, ToolResult, ToolUpdate } from "../../core/types/tool.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { type ModelAnswer, askModel, type RetryEvent } from "./ask-model.ts";
import { type Compacted, type Conversation, sizeOf, totalSize } from "./compact.ts";
import { ContextWindow } from "./context-window.ts";
import type { AgentModel } from "./model.ts";
import { offeredTools } from "./offered-tools.ts";
import { IMAGES_IN_PROMPTS } from "./provider.ts";
import { hasResultImages, withoutResultImages } from "./result-images.ts";
import type { StepEvent, TokenUsage } from "./step.ts";

export interface TurnOptions {
  model: AgentModel;
  system?: string;
  /**
   * Untrusted text for the model, between the system prompt and the history. Of several texts, each is shorter than
   * the one before: when room is short, the next one takes its place, and after the last there is none.
   */
  context?: string | readonly string[];
  /** The history that the previous turn returned. */
  history?: readonly ModelMessage[];
  prompt: readonly ContentBlock[];
  /** Asked before every step, so that the tools of a server that starts late are used from the next step on. */
  tools: PromptTools | (() => readonly Tool[]);
  /** The most requests to the model. Default: 50. */
  maxSteps?: number;
  signal?: AbortSignal;
  /** Must not throw. */
  onEvent?: (event: TurnEvent) => void;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
  /** Makes the id of a call. The model's own ids stay with the model: some count from 0 in every answer. */
  newCallId?: () => string;
}

/** What a turn reports while it runs. */
export type TurnEvent =
  /** The model is asked; `step` counts from 1. */
  | { type: "step"; step: number }
  | StepEvent
  | RetryEvent
  /** `id` is unique, and the call's id on the board. `tool` is absent if the model made the name up. */
  | { type: "tool_call"; id: string; name: string; input: unknown; tool?: Tool }
  | { type: "tool_update"; id: string; name: string; update: ToolUpdate }
  /** `outcome` is for people; `content` is what the model reads. */
  | {
      type: "tool_result";
      id: string;
      name: string;
      isError: boolean;
      outcome: CallOutcome;
      content: ContentBlock[];
    }
  /** After this step, `used` tokens of the context window are taken. */
  | { type: "usage"; usage: TokenUsage; used: number; window: number }
  /** Parts of the conversation were left out, so that it fits the context window. */
  | { type: "compaction"; results: number; messages: number }
  /** Something the user should know that did not stop the turn. */
  | { type: "notice"; text: string };

/** ACP's stop reasons, and `failed` if the model could not be reached, refused the request or stopped answering. */
export type TurnEnd =
  | { reason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" }
  | { reason: "failed"; error: PlugboardError };

export interface TurnResult {
  end: TurnEnd;
  /** The conversation so far, which can be continued however the turn ended. Plain JSON. */
  history: ModelMessage[];
  /** The total of all steps. */
  usage: TokenUsage;
}

const DEFAULT_MAX_STEPS = 50;
/** How many times a request that is too large is made smaller. */
const SHRINKS = 3;

const SHORTENED =
  "the conversation needs the room in the model's context window, so the servers' resources are left out of it";

/** Does not reject. */
export function runTurn(options: TurnOptions): Promise<TurnResult> {
  return new Turn(options).run();
}

class Turn {
  readonly #options: TurnOptions;
  readonly #model: AgentModel;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #emit: (event: TurnEvent) => void;
  readonly #tools: ModelTools;
  /** Absent if the model gets every tool. */
  readonly #promptTools: PromptTools | undefined;
  readonly #window: ContextWindow;
  readonly #usage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  #conversation: Conversation;
  /**
   * The contexts that the model still gets: the texts that are sent first. The loop drops contexts when the prompt is
   * too long.
   */
  #contexts: readonly string[];
  #isContextShortened = false;
  /** How much the loop has left out of the prompt since it last reported it. */
  #unreported = { results: 0, messages: 0 };

  constructor(options: TurnOptions) {
    const { model, history = [], prompt } = options;
    this.#options = options;
    this.#model = model;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#clock = options.clock ?? systemClock;
    this.#emit = options.onEvent ?? (() => {});
    const { tools } = options;
    this.#promptTools = tools instanceof PromptTools ? tools : undefined;
    if (this.#promptTools !== undefined) this.#promptTools.contextWindow = model.contextWindow;
    this.#tools = offeredTools(tools instanceof PromptTools ? () => tools.list() : tools, model, {
      find: (name) => this.#promptTools?.find(name),
      onLeftOut: ({ name }, reason) =>
        this.#emit({
          type: "notice",
          text: `the tool '${name}' is not offered to the model: ${reason}`,
        }),
    });
    this.#window = new ContextWindow(model.contextWindow);
    this.#contexts = [options.context ?? []].flat().filter((text) => text !== "");
    const content = toPromptContent(prompt, model.media.prompts);
    this.#conversation = {
      messages: [...history, { role: "user", content }],
      turnStart: history.length,
    };
  }

  async run(): Promise<TurnResult> {
    const end = await this.#run();
    return { end, history: this.#conversation.messages, usage: this.#usage };
  }

  async #run(): Promise<TurnEnd> {
    const { maxSteps = DEFAULT_MAX_STEPS } = this.#options;
    await this.#preselect();
    for (let step = 1; step <= maxSteps; step += 1) {
      if (this.#signal.aborted) return { reason: "cancelled" };
      this.#emit({ type: "step", step });
      const news = this.#promptTools?.news();
      if (news !== undefined) this.#add({ role: "user", content: `[${news}]` });
      const tools = this.#tools.list();
      const answer = await this.#answer(tools);
      if (answer.kind !== "answered") {
        this.#add(...partial(answer.text));
        if (answer.kind === "cancelled") return { reason: "cancelled" };
        return { reason: "failed", error: answer.failure.error };
      }
      const { messages, calls, finish } = answer;
      this.#add(...messages);
      if (finish !== "stop") {
        this.#add(...unanswered(calls, this.#model));
        return { reason: finish === "length" ? "max_tokens" : "refusal" };
      }
      if (calls.length === 0) return { reason: "end_turn" };
      const results = await Promise.all(calls.map((call) => this.#callTool(call, tools)));
      this.#add({ role: "tool", content: results });
    }
    return { reason: this.#signal.aborted ? "cancelled" : "max_turn_requests" };
  }

  /** What the user says brings the first tools into the prompt. */
  async #preselect(): Promise<void> {
    const promptTools = this.#promptTools;
    if (promptTools === undefined) return;
    const texts = this.#options.prompt.flatMap((block) =>
      block.type === "text" ? [block.text] : [],
    );
    await promptTools.preselect(texts.join("\n"));
    const text = promptTools.notice();
    if (text !== undefined) this.#emit({ type: "notice", text });
  }

  /**
   * Makes a request that is too large smaller and tries again. If its size was only a guess and a smaller one is
   * refused as well, the conversation is restored.
   */
  async #answer(tools: ReadonlyMap<string, ModelTool>): Promise<ModelAnswer> {
    const size = (): number => this.#fixedSize(tools);
    // What the user said and what tools answered is worth more than what servers offer to read.
    while (this.#window.isOver(this.#conversation, size()) && this.#shortenContext());
    this.#leaveOut(this.#window.fit(this.#conversation, size()));
    this.#reportCompaction();
    const whole = { conversation: this.#conversation, contexts: this.#contexts };
    let isCertain = false;
    for (let shrinks = 0; ; shrinks += 1) {
      const answer = await this.#askWithImages(tools);
      if (answer.kind !== "failed") {
        this.#reportCompaction();
        if (answer.kind === "answered") this.#account(answer.usage, size());
        return answer;
      }
      const { tooLarge } = answer.failure;
      isCertain ||= tooLarge === "certain";
      if (
        tooLarge !== "no" &&
        this.#window.mayBeTooLarge(this.#conversation, size(), tooLarge === "certain") &&
        this.#shortenContext()
      ) {
        shrinks -= 1;
        continue;
      }
      const smaller =
        tooLarge === "no" || shrinks === SHRINKS
          ? undefined
          : this.#window.shrink(this.#conversation, size(), tooLarge === "certain");
      if (smaller !== undefined) {
        this.#leaveOut(smaller);
        continue;
      }
      if (isCertain) this.#reportCompaction();
      else {
        this.#conversation = whole.conversation;
        this.#contexts = whole.contexts;
        this.#unreported = { results: 0, messages: 0 };
      }
      return answer;
    }
  }

  /** Some models behind an API that takes images refuse them. Such a model gets none in results from then on. */
  async #askWithImages(tools: ReadonlyMap<string, ModelTool>): Promise<ModelAnswer> {
    const answer = await this.#ask(tools);
    const { media, id } = this.#model;
    const { messages } = this.#conversation;
    if (answer.kind !== "failed" || !mayRefuseImages(answer.failure.error)) return answer;
    if (!media.imagesFollow || !hasResultImages(messages)) return answer;
    this.#model.media = IMAGES_IN_PROMPTS;
    this.#conversation.messages = withoutResultImages(messages);
    const again = await this.#ask(tools);
    if (again.kind === "failed") {
      // The request fails without images too, so they were not the reason.
      this.#model.media = media;
      this.#conversation.messages = messages;
      return answer;
    }
    const text = `the model ${id} does not take the images that tools return; it gets a note in their place`;
    this.#emit({ type: "notice", text });
    return again;
  }

  /** False if there is no context any more. */
  #shortenContext(): boolean {
    if (this.#contexts.length === 0) return false;
    this.#contexts = this.#contexts.slice(1);
    if (!this.#isContextShortened) {
      this.#isContextShortened = true;
      this.#emit({ type: "notice", text: SHORTENED });
    }
    return true;
  }

  #ask(tools: ReadonlyMap<string, ModelTool>): Promise<ModelAnswer> {
    const { system, random = Math.random } = this.#options;
    const about = [this.#promptTools?.index() ?? [], this.#contexts.slice(0, 1)]
      .flat()
      .map((content): ModelMessage => ({ role: "user", content }));
    return askModel({
      model: this.#model,
      system,
      messages: [...about, ...this.#conversation.messages],
      tools,
      signal: this.#signal,
      onEvent: (event) => {
        if (event.type === "text" || event.type === "thought") this.#reportCompaction();
        this.#emit(event);
      },
      clock: this.#clock,
      random,
    });
  }

  async #callTool(call: ModelCall, tools: ReadonlyMap<string, ModelTool>): Promise<ToolResultPart> {
    const { newCallId = randomUUID } = this.#options;
    const { name, input } = call;
    const id = newCallId();
    const found = tools.get(name) ?? this.#tools.get(name);
    if (found !== undefined) this.#promptTools?.used(found.tool.name);
    this.#emit({ type: "tool_call", id, name, input, tool: found?.tool });
    const lookup = { get: () => found, keys: () => tools.keys() };
    const result = await this.#runCall({ ...call, id }, lookup);
    const { content, isError = false } = result;
    this.#emit({ type: "tool_result", id, name, isError, outcome: outcomeOf(result), content });
    return toResultPart(call, result, this.#model);
  }

  /** Does not reject, and ends with the signal even if the tool ignores it. */
  async #runCall(call: ModelCall, tools: ModelToolLookup): Promise<ToolResult> {
    const { id, name } = call;
    const signal = this.#signal;
    if (signal.aborted) return failedResult(cancelled());
    let isOver = false;
    const running = runModelCall(tools, call, {
      signal,
      onUpdate: (update) => {
        if (!isOver) this.#emit({ type: "tool_update", id, name, update });
      },
    });
    try {
      return await untilAborted(running, signal, cancelled);
    } catch (error) {
      return failedResult(error);
    } finally {
      isOver = true;
    }
  }

  #account(usage: TokenUsage, fixed: number): void {
    for (const key of ["input", "output", "cached", "reasoning"] as const) {
      this.#usage[key] += usage[key];
    }
    this.#window.learn(totalSize(this.#conversation.messages) + fixed, usage.input);
    const window = this.#model.contextWindow;
    this.#emit({ type: "usage", usage, used: usage.input + usage.output, window });
  }

  #fixedSize(tools: ReadonlyMap<string, ModelTool>): number {
    const { system = "" } = this.#options;
    const index = this.#promptTools?.index() ?? "";
    let size = system.length + index.length + (this.#contexts[0]?.length ?? 0);
    for (const { name, description, schema } of tools.values()) {
      size += name.length + description.length + sizeOf(schema);
    }
    return size;
  }

  #leaveOut(compacted: Compacted | undefined): void {
    if (compacted === undefined) return;
    const { messages, turnStart, results, dropped } = compacted;
    this.#conversation = { messages, turnStart };
    this.#unreported.results += results;
    this.#unreported.messages += dropped;
  }

  /** Called once the model answers: until then, leaving something out may turn out not to have helped. */
  #reportCompaction(): void {
    const { results, messages } = this.#unreported;
    if (results + messages === 0) return;
    this.#unreported = { results: 0, messages: 0 };
    this.#emit({ type: "compaction", results, messages });
  }

  #add(...messages: readonly ModelMessage[]): void {
    this.#conversation.messages = [...this.#conversation.messages, ...messages];
  }
}

/** APIs differ in the status: 400, 404, 415, 422, and 500 where the model runs on this machine. */
function mayRefuseImages({ code, status, permanent }: PlugboardError): boolean {
  return code === "HTTP_STATUS" && (permanent || status === 500);
}

function outcomeOf({ content, isError, details }: ToolResult): CallOutcome {
  return (details as CallOutcome | undefined) ?? { content, ...(isError && { isError }) };
}

function toResultPart(
  { id, name }: ModelCall,
  result: ToolResult,
  { media }: AgentModel,
): ToolResultPart {
  const output = toResultOutput(result, media.results);
  return { type: "tool-result", toolCallId: id, toolName: safeName(name), output };
}

/** Every call needs a result, or the provider refuses the conversation. */
function unanswered(calls: readonly ModelCall[], model: AgentModel): ModelMessage[] {
  if (calls.length === 0) return [];
  const message = "the tool was not called, since the answer was cut off";
  const result = failedResult(new PlugboardError("INVALID_ARGUMENTS", message));
  return [{ role: "tool", content: calls.map((call) => toResultPart(call, result, model)) }];
}

/** The answer up to the moment it was cancelled or failed: the user has read it. */
function partial(text: string): ModelMessage[] {
  return text.trim() === "" ? [] : [{ role: "assistant", content: text }];
}
