// The loop that answers a prompt: the model is asked, the tools it calls are run, and it is asked again with
// their results, until it has no more calls to make.

import type { ModelMessage, ToolModelMessage } from "ai";
import { failedResult } from "../bridge/model-call.ts";
import { PlugboardError } from "../model/errors.ts";
import type { ContentBlock } from "../model/content.ts";
import type { CallOutcome, Tool, ToolResult } from "../model/tool.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { type Answer, askModel } from "./ask-model.ts";
import { type ModelCall, runCall } from "./call.ts";
import { type Compacted, type Conversation, totalSize } from "./compact.ts";
import { toPromptContent, toResultOutput } from "./content.ts";
import { sizeOf } from "./message-size.ts";
import type { AgentModel } from "./model.ts";
import { Offer, type OfferedTool, safeName } from "./offer.ts";
import { Room } from "./room.ts";
import { runStep } from "./step.ts";
import type { TokenUsage, TurnEvent } from "./turn-event.ts";

export interface TurnOptions {
  model: AgentModel;
  system?: string;
  /** Untrusted text for the model, between the system prompt and the history. */
  context?: string;
  /** What the turn before gave. */
  history?: readonly ModelMessage[];
  prompt: readonly ContentBlock[];
  /** Read before every step: a server that comes late is used from the next one on. */
  tools: () => readonly Tool[];
  /** Requests to the model. Default 50. */
  maxSteps?: number;
  signal?: AbortSignal;
  /** Must not throw. */
  onEvent?: (event: TurnEvent) => void;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
}

/** The names are ACP's, but for `failed`: then the model stayed away. */
export type TurnEnd =
  | { reason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" }
  | { reason: "failed"; error: PlugboardError };

export interface TurnResult {
  end: TurnEnd;
  /** The conversation so far, fit to be gone on with however the turn ended. JSON all through. */
  history: ModelMessage[];
  /** Of all steps together. */
  usage: TokenUsage;
}

const DEFAULT_MAX_STEPS = 50;
/** How often a request that is too large is made smaller. */
const SHRINKS = 3;

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
  readonly #offer: Offer;
  readonly #room: Room;
  readonly #usage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  #conversation: Conversation;
  /** Of what was left out. */
  #untold = { results: 0, messages: 0 };

  constructor(options: TurnOptions) {
    const { model, history = [], prompt } = options;
    this.#options = options;
    this.#model = model;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#clock = options.clock ?? systemClock;
    this.#emit = options.onEvent ?? (() => {});
    this.#offer = new Offer(model, (text) => this.#emit({ type: "notice", text }));
    this.#room = new Room(model.contextWindow);
    const content = toPromptContent(prompt, model.media);
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
    const { maxSteps = DEFAULT_MAX_STEPS, tools } = this.#options;
    for (let step = 1; step <= maxSteps; step += 1) {
      if (this.#signal.aborted) return { reason: "cancelled" };
      this.#emit({ type: "step", step });
      const offered = this.#offer.list(tools());
      const answer = await this.#answer(offered);
      if (answer.kind === "failed") return { reason: "failed", error: answer.failure.error };
      if (answer.kind === "cancelled") {
        this.#add(...partial(answer.text));
        return { reason: "cancelled" };
      }
      const { messages, calls, finish } = answer;
      this.#add(...messages);
      if (finish !== "stop") {
        this.#add(...unanswered(calls, this.#model));
        return { reason: finish === "length" ? "max_tokens" : "refusal" };
      }
      if (calls.length === 0) return { reason: "end_turn" };
      this.#add(await this.#callTools(calls, offered));
    }
    return { reason: this.#signal.aborted ? "cancelled" : "max_turn_requests" };
  }

  /**
   * A request that turns out too large is made smaller, which is no failure. Where that was a guess and does not
   * help, nothing has been left out.
   */
  async #answer(offered: ReadonlyMap<string, OfferedTool>): Promise<Answer> {
    const fixed = this.#fixedSize(offered);
    this.#leaveOut(this.#room.fit(this.#conversation, fixed));
    this.#tellOfCompaction();
    const whole = this.#conversation;
    let isCertain = false;
    for (let shrinks = 0; ; shrinks += 1) {
      const answer = await this.#ask(offered);
      if (answer.kind !== "failed") {
        this.#tellOfCompaction();
        if (answer.kind === "answered") this.#account(answer.usage, fixed);
        return answer;
      }
      const { tooLarge } = answer.failure;
      isCertain ||= tooLarge === "certain";
      const smaller =
        tooLarge === "no" || shrinks === SHRINKS
          ? undefined
          : this.#room.shrink(this.#conversation, fixed, tooLarge === "certain");
      if (smaller !== undefined) {
        this.#leaveOut(smaller);
        continue;
      }
      if (isCertain) this.#tellOfCompaction();
      else {
        this.#conversation = whole;
        this.#untold = { results: 0, messages: 0 };
      }
      return answer;
    }
  }

  #ask(offered: ReadonlyMap<string, OfferedTool>): Promise<Answer> {
    const { system, context, random = Math.random } = this.#options;
    const common = {
      model: this.#model,
      signal: this.#signal,
      onEvent: (event: TurnEvent) => {
        if (event.type !== "retry") this.#tellOfCompaction();
        this.#emit(event);
      },
    };
    const about: ModelMessage[] = context ? [{ role: "user", content: context }] : [];
    const messages = [...about, ...this.#conversation.messages];
    return askModel(() => runStep({ ...common, system, messages, offered }), {
      ...common,
      clock: this.#clock,
      random,
    });
  }

  async #callTools(
    calls: readonly ModelCall[],
    offered: ReadonlyMap<string, OfferedTool>,
  ): Promise<ToolModelMessage> {
    const results = await Promise.all(calls.map((call) => this.#callTool(call, offered)));
    return toToolMessage(calls, results, this.#model);
  }

  async #callTool(call: ModelCall, offered: ReadonlyMap<string, OfferedTool>): Promise<ToolResult> {
    const { id, name, input } = call;
    const tool = offered.get(name)?.tool;
    this.#emit({ type: "tool_call", id, name, input, ...(tool !== undefined && { tool }) });
    const result = await runCall(call, {
      offered,
      signal: this.#signal,
      onUpdate: (update) => this.#emit({ type: "tool_update", id, name, update }),
    });
    const { content, isError = false } = result;
    this.#emit({ type: "tool_result", id, name, isError, outcome: outcomeOf(result), content });
    return result;
  }

  #account(usage: TokenUsage, fixed: number): void {
    for (const key of ["input", "output", "cached", "reasoning"] as const) {
      this.#usage[key] += usage[key];
    }
    this.#room.learn(totalSize(this.#conversation.messages) + fixed, usage.input);
    const window = this.#model.contextWindow;
    this.#emit({ type: "usage", usage, used: usage.input + usage.output, window });
  }

  #fixedSize(offered: ReadonlyMap<string, OfferedTool>): number {
    const { system = "", context = "" } = this.#options;
    let size = system.length + context.length;
    for (const { name, description, schema } of offered.values()) {
      size += name.length + description.length + sizeOf(schema);
    }
    return size;
  }

  #leaveOut(compacted: Compacted | undefined): void {
    if (compacted === undefined) return;
    const { messages, turnStart, results, dropped } = compacted;
    this.#conversation = { messages, turnStart };
    this.#untold.results += results;
    this.#untold.messages += dropped;
  }

  /** Once the model answers: before that it may prove to have been for nothing. */
  #tellOfCompaction(): void {
    const { results, messages } = this.#untold;
    if (results + messages === 0) return;
    this.#untold = { results: 0, messages: 0 };
    this.#emit({ type: "compaction", results, messages });
  }

  #add(...messages: readonly ModelMessage[]): void {
    this.#conversation.messages = [...this.#conversation.messages, ...messages];
  }
}

function outcomeOf({ content, isError, details }: ToolResult): CallOutcome {
  return (details as CallOutcome | undefined) ?? { content, ...(isError && { isError }) };
}

function toToolMessage(
  calls: readonly ModelCall[],
  results: readonly ToolResult[],
  { media }: AgentModel,
): ToolModelMessage {
  const content = calls.flatMap(({ id, name }, index) => {
    const result = results[index];
    if (result === undefined) return [];
    const output = toResultOutput(result, media);
    return [{ type: "tool-result" as const, toolCallId: id, toolName: safeName(name), output }];
  });
  return { role: "tool", content };
}

/** Every call needs a result, or the conversation cannot be gone on with. */
function unanswered(calls: readonly ModelCall[], model: AgentModel): ModelMessage[] {
  if (calls.length === 0) return [];
  const reason = new PlugboardError(
    "INVALID_ARGUMENTS",
    "the tool was not called, since the answer was cut off",
  );
  return [
    toToolMessage(
      calls,
      calls.map(() => failedResult(reason)),
      model,
    ),
  ];
}

/** What had been said when it was cancelled. */
function partial(text: string): ModelMessage[] {
  return text.trim() === "" ? [] : [{ role: "assistant", content: text }];
}
