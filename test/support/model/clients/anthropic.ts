// The `@anthropic-ai/sdk` package.

import Anthropic from "@anthropic-ai/sdk";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool, type Step } from "./client.ts";

export function anthropic(streamed: boolean): Client {
  return {
    name: `@anthropic-ai/sdk, ${streamed ? "streamed" : "whole"}`,
    api: "messages",
    words: { tools: "tool_use", stop: "end_turn", length: "max_tokens" },
    converse: (url, run) =>
      converse(new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 }), streamed, run),
  };
}

async function converse(client: Anthropic, streamed: boolean, run: RunTool): Promise<Step[]> {
  const steps: Step[] = [];
  const messages: MessageParam[] = [{ role: "user", content: QUESTION }];
  for (;;) {
    const request = {
      model: "scripted",
      max_tokens: 1000,
      system: SYSTEM,
      messages,
      tools: TOOLS.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema,
      })),
    };
    const message = streamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const calls = message.content.filter((block) => block.type === "tool_use");
    steps.push({
      text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thinking: message.content
        .map((block) => (block.type === "thinking" ? block.thinking : ""))
        .join(""),
      toolCalls: calls.map(({ name, input }) => ({ name, arguments: input })),
      finish: message.stop_reason ?? "",
      usage: {
        input: message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0),
        output: message.usage.output_tokens,
      },
    });
    if (calls.length === 0) return steps;
    messages.push(
      { role: "assistant", content: message.content },
      {
        role: "user",
        content: calls.map(({ id, name, input }) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: run(name, input),
        })),
      },
    );
  }
}
