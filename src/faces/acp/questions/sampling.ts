// Lets a server ask the session's model, as far as the person at the editor agrees, and shows what it asked.

import { randomUUID } from "node:crypto";
import {
  methods,
  type PermissionOption,
  type ToolCall,
  type ToolCallContent,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { sampledText, samplingText } from "../../../agent/sampling-text.ts";
import type { SampledMessage, SamplingOptions, SamplingRequest } from "../../../model/sampling.ts";
import { Turns } from "../../../server/requests/turns.ts";
import { oneLine } from "../../../util/text.ts";
import type { Asking } from "./question-context.ts";
import { textContent } from "../wire/content.ts";

const LONGEST_NAME = 80;
const LONGEST_REASON = 300;

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow for this server", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject for this server", kind: "reject_always" },
];

/** `model` is how it is asked; undefined where there is none. What is always so holds for the session. */
export function samplingPrompt(
  asking: Asking,
  model: SamplingOptions | undefined,
): SamplingOptions {
  const allowed = new Set<string>();
  const rejected = new Set<string>();
  const turns = new Turns();

  const isAgreed = async (request: SamplingRequest, shown: SamplingView): Promise<boolean> => {
    const { server, approvalRequired } = request;
    if (rejected.has(server)) return false;
    if (allowed.has(server) || (asking.mode() === "auto" && !approvalRequired)) return true;
    const answer = await shown.ask();
    if (answer === "always") allowed.add(server);
    if (answer === "never") rejected.add(server);
    return answer === "allow" || answer === "always";
  };

  const handler = async (given: SamplingRequest): Promise<SampledMessage | "declined"> => {
    const turn = asking.turn();
    if (turn === undefined || rejected.has(given.server)) return "declined";
    const server = oneLine(given.server, LONGEST_NAME);
    if (model === undefined) {
      asking.tell(
        `${server} wants to ask a model, and there is none here (set "model" in the configuration); ` +
          "it was declined",
      );
      return "declined";
    }
    const request = { ...given, signal: AbortSignal.any([turn, given.signal]) };
    const shown = new SamplingView(request, asking);
    try {
      // One at a time: what is decided on the first may hold for the next.
      const agreed = await turns.take(turns, request.signal, () => isAgreed(request, shown));
      if (agreed !== true) return shown.end("declined");
      shown.begin();
      return shown.end(await model.handler(request));
    } catch (error) {
      shown.fail(request.signal.aborted ? "cancelled" : error);
      throw error;
    }
  };
  return { ...model, handler };
}

/** One request as the editor shows it: like a call, from its start to its end. */
class SamplingView {
  readonly #id = randomUUID();
  readonly #request: SamplingRequest;
  readonly #asking: Asking;
  readonly #about: Required<Pick<ToolCall, "title" | "kind" | "content">>;

  constructor(request: SamplingRequest, asking: Asking) {
    const { server, tool } = request;
    this.#request = request;
    this.#asking = asking;
    const during = tool === undefined ? "" : ` during ${oneLine(tool, LONGEST_NAME)}`;
    this.#about = {
      title: `${oneLine(server, LONGEST_NAME)} asks the model${during}`,
      kind: "think",
      content: [textContent(samplingText(request))],
    };
    asking.emit({
      sessionUpdate: "tool_call",
      toolCallId: this.#id,
      status: "pending",
      ...this.#about,
    });
  }

  /** The option's id; rejects when nobody waits for the answer any more. */
  async ask(): Promise<string | undefined> {
    const { peer, sessionId } = this.#asking;
    const { outcome } = await peer.request(
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
    const reason = oneLine(error instanceof Error ? error.message : String(error), LONGEST_REASON);
    this.#update({ status: "failed", content: this.#with(reason) });
  }

  #with(end: string): ToolCallContent[] {
    return [...this.#about.content, textContent(end)];
  }

  #update(update: Omit<ToolCallUpdate, "toolCallId">): void {
    const toolCallId = this.#id;
    this.#asking.emit({ sessionUpdate: "tool_call_update", toolCallId, ...update });
  }
}
