// Turns a session's record into the conversation that a model continues: what was said, and what tools answered,
// marked as untrusted again. Commands are left out, because no model saw them the first time.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { toPromptContent, toResultOutput } from "../../../core/tools/ai-sdk-content.ts";
import type { TurnResult } from "../../loop/loop.ts";
import type { AgentModel } from "../../loop/model.ts";
import { safeName } from "../../../core/tools/provider-name.ts";
import { presentPastResult } from "../../../core/board/past-result.ts";
import type { ContentBlock } from "../../../core/types/content.ts";
import { objectIn } from "../../../core/types/json.ts";
import type { Tool, ToolResult } from "../../../core/types/tool.ts";
import { parseCommand } from "../commands/commands.ts";
import { fromAcp, hasEnded, isQuoted } from "../wire/content.ts";

type Message = TurnResult["history"][number];

export interface ConversationOptions extends Pick<AgentModel, "media"> {
  /** The current tools, which tell where a result came from. */
  tools: readonly Tool[];
}

export function toHistory(
  past: readonly SessionUpdate[],
  options: ConversationOptions,
): Promise<Message[]> {
  const history = new RecordedConversation(options);
  for (const update of past) history.add(update);
  return history.end();
}

interface RecordedCall {
  /** The id in the record. It is not unique: some models count from 0 in every answer. */
  recordedId: string;
  name: string;
  input: unknown;
  result?: { content: ContentBlock[]; isError: boolean };
}

interface MadeCall extends RecordedCall {
  /** The id in the conversation. */
  toolCallId: string;
  toolName: string;
}

/** One answer of the model: what it said, then the calls it made. */
interface RecordedStep {
  text: string;
  calls: RecordedCall[];
}

class RecordedConversation {
  readonly #options: ConversationOptions;
  readonly #messages: (Message | Promise<Message>)[] = [];
  #prompt: ContentBlock[] = [];
  #step: RecordedStep = { text: "", calls: [] };
  #calls = 0;
  #isCommand = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  add(update: SessionUpdate): void {
    if (update.sessionUpdate === "user_message_chunk") {
      this.#endStep();
      this.#prompt.push(fromAcp(update.content));
      return;
    }
    this.#endPrompt();
    if (this.#isCommand) return;
    const { calls } = this.#step;
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (isQuoted(update)) return;
        if (calls.length > 0) this.#endStep();
        if (update.content.type === "text") this.#step.text += update.content.text;
        return;
      case "tool_call": {
        const { toolCallId: recordedId, name, title, kind, rawInput: input } = update;
        // A server's request to the model is shown like a call, but no tool takes part in it.
        if (kind === "think" && typeof name !== "string") return;
        if (calls.length > 0 && calls.every(({ result }) => result !== undefined)) this.#endStep();
        this.#step.calls.push({ recordedId, name: name ?? title, input });
        return;
      }
      case "tool_call_update": {
        const call = calls.find((each) => each.recordedId === update.toolCallId);
        const { status, content } = update;
        if (call === undefined || !hasEnded(status)) return;
        const blocks = (content ?? []).flatMap((each) =>
          each.type === "content" ? fromAcp(each.content) : [],
        );
        call.result = { content: blocks, isError: status === "failed" };
        return;
      }
      default:
    }
  }

  async end(): Promise<Message[]> {
    this.#endPrompt();
    this.#endStep();
    const messages: Message[] = [];
    for (const message of this.#messages) messages.push(await message);
    return messages;
  }

  #endPrompt(): void {
    const prompt = this.#prompt;
    if (prompt.length === 0) return;
    this.#prompt = [];
    const texts = prompt.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const text = texts.join("\n");
    // A server's prompt does not count as a command here: it went to the model.
    this.#isCommand = parseCommand(text.trim(), []) !== undefined;
    if (this.#isCommand) return;
    const isText = texts.length === prompt.length;
    const content = isText ? text : toPromptContent(prompt, this.#options.media.prompts);
    this.#messages.push({ role: "user", content });
  }

  #endStep(): void {
    const { text, calls } = this.#step;
    this.#step = { text: "", calls: [] };
    const said = text === "" ? [] : [{ type: "text" as const, text }];
    if (said.length + calls.length === 0) return;
    const made = calls.map((call) => {
      this.#calls += 1;
      return { ...call, toolCallId: `past_${this.#calls}`, toolName: safeName(call.name) };
    });
    const asked = made.map(({ toolCallId, toolName, input }) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName,
      input: objectIn(input),
    }));
    this.#messages.push({ role: "assistant", content: [...said, ...asked] });
    if (made.length > 0) this.#messages.push(this.#results(made));
  }

  async #results(made: readonly MadeCall[]): Promise<Message> {
    const content = made.map(async ({ toolCallId, toolName, ...call }) => ({
      type: "tool-result" as const,
      toolCallId,
      toolName,
      output: toResultOutput(await this.#present(call), this.#options.media.results),
    }));
    return { role: "tool", content: await Promise.all(content) };
  }

  async #present({ name, result }: RecordedCall): Promise<ToolResult> {
    if (result === undefined) {
      return { content: [{ type: "text", text: "the call was interrupted" }], isError: true };
    }
    const source = this.#options.tools.find((tool) => tool.name === name)?.source;
    return presentPastResult(result, name, source);
  }
}
