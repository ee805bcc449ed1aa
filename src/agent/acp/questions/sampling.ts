// Lets a server ask the session's model if the user agrees, and shows what it asked.

import { randomUUID } from "node:crypto";
import {
  methods,
  type PermissionOption,
  type ToolCall,
  type ToolCallContent,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { sampledText, samplingText } from "../../loop/sampling-text.ts";
import type {
  SampledMessage,
  SamplingOptions,
  SamplingRequest,
} from "../../../core/types/sampling.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { QuestionQueue } from "../../../util/question-queue.ts";
import { oneLine } from "../../../util/text.ts";
import { textContent } from "../wire/content.ts";
import type { QuestionContext } from "./question-context.ts";

const LONGEST_NAME = 80;
const LONGEST_REASON = 300;

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow for this server", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject for this server", kind: "reject_always" },
];

/** `model` asks the session's model; undefined if there is none. "Always" holds for the session. */
export function samplingPrompt(
  context: QuestionContext,
  model: SamplingOptions | undefined,
): SamplingOptions {
  const allowed = new Set<string>();
  const rejected = new Set<string>();
  const questions = new QuestionQueue();

  const isAllowed = async (request: SamplingRequest, view: SamplingView): Promise<boolean> => {
    const { server, approvalRequired } = request;
    if (rejected.has(server)) return false;
    if (allowed.has(server) || (context.isAutomatic() && !approvalRequired)) return true;
    const answer = await view.ask();
    if (answer === "always") allowed.add(server);
    if (answer === "never") rejected.add(server);
    return answer === "allow" || answer === "always";
  };

  const handler = async (given: SamplingRequest): Promise<SampledMessage | "declined"> => {
    const prompt = context.promptSignal();
    if (prompt === undefined || rejected.has(given.server)) return "declined";
    const server = oneLine(given.server, LONGEST_NAME);
    if (model === undefined) {
      context.notify(
        `${server} wants to ask a model, but this agent has none (set "model" in the configuration); ` +
          "the request was declined",
      );
      return "declined";
    }
    const request = { ...given, signal: AbortSignal.any([prompt, given.signal]) };
    const view = new SamplingView(request, context);
    try {
      // One question at a time: "always" to the first also answers the next.
      const allow = () => isAllowed(request, view);
      if ((await questions.ask(questions, request.server, request.signal, allow)) !== true) {
        return view.end("declined");
      }
      view.begin();
      return view.end(await model.handler(request));
    } catch (error) {
      view.fail(request.signal.aborted ? "cancelled" : error);
      throw error;
    }
  };
  return { ...model, handler };
}

/** Shows one request to the editor like a tool call, from start to end. */
class SamplingView {
  readonly #id = randomUUID();
  readonly #request: SamplingRequest;
  readonly #context: QuestionContext;
  readonly #about: Required<Pick<ToolCall, "title" | "kind" | "content">>;

  constructor(request: SamplingRequest, context: QuestionContext) {
    const { server, tool } = request;
    this.#request = request;
    this.#context = context;
    const during = tool === undefined ? "" : ` during ${oneLine(tool, LONGEST_NAME)}`;
    this.#about = {
      title: `${oneLine(server, LONGEST_NAME)} asks the model${during}`,
      kind: "think",
      content: [textContent(samplingText(request))],
    };
    context.emit({
      sessionUpdate: "tool_call",
      toolCallId: this.#id,
      status: "pending",
      ...this.#about,
    });
  }

  /** Resolves to the chosen option's id. Rejects when the request is cancelled. */
  async ask(): Promise<string | undefined> {
    const { client, sessionId } = this.#context;
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      { sessionId, toolCall: { toolCallId: this.#id, ...this.#about }, options: OPTIONS },
      this.#request.signal,
    );
    return outcome.outcome === "selected" ? outcome.optionId : undefined;
  }

  begin(): void {
    this.#update({ status: "in_progress" });
  }

  end(answer: SampledMessage | "declined"): SampledMessage | "declined" {
    if (answer === "declined") this.fail("declined");
    else this.#update({ status: "completed", content: this.#with(sampledText(answer.content)) });
    return answer;
  }

  fail(error: unknown): void {
    const reason = oneLine(errorMessage(error), LONGEST_REASON);
    this.#update({ status: "failed", content: this.#with(reason) });
  }

  #with(end: string): ToolCallContent[] {
    return [...this.#about.content, textContent(end)];
  }

  #update(update: Omit<ToolCallUpdate, "toolCallId">): void {
    const toolCallId = this.#id;
    this.#context.emit({ sessionUpdate: "tool_call_update", toolCallId, ...update });
  }
}
