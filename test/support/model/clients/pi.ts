// The `@mariozechner/pi-ai` package, which always streams.

import { stream, Type, type Context, type KnownApi, type Model } from "@mariozechner/pi-ai";
import type { ApiName } from "../start.mjs";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool, type Step } from "./client.ts";

type Spoken = Exclude<ApiName, "google">;

const APIS: Record<Spoken, { api: KnownApi; base: string }> = {
  chat: { api: "openai-completions", base: "/v1" },
  responses: { api: "openai-responses", base: "/v1" },
  messages: { api: "anthropic-messages", base: "" },
};

export function pi(api: Spoken): Client {
  return {
    name: `@mariozechner/pi-ai, ${api}`,
    api,
    // 0.73 does not look at `response.incomplete`.
    words: { tools: "toolUse", stop: "stop", length: api === "responses" ? "stop" : "length" },
    converse(url, run) {
      const model: Model<KnownApi> = {
        id: "scripted",
        name: "scripted",
        api: APIS[api].api,
        provider: "scripted",
        baseUrl: `${url}${APIS[api].base}`,
        reasoning: true,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 100_000,
        maxTokens: 1000,
      };
      return converse(model, run);
    },
  };
}

async function converse(model: Model<KnownApi>, run: RunTool): Promise<Step[]> {
  const steps: Step[] = [];
  const context: Context = {
    systemPrompt: SYSTEM,
    messages: [{ role: "user", content: QUESTION, timestamp: 0 }],
    tools: TOOLS.map(({ name, description, schema }) => ({
      name,
      description,
      parameters: Type.Unsafe(schema),
    })),
  };
  for (;;) {
    const message = await stream(model, context, { apiKey: KEY, maxRetries: 0 }).result();
    // It never rejects: failures are messages.
    if (message.stopReason === "error") throw new Error(message.errorMessage);
    const calls = message.content.filter((block) => block.type === "toolCall");
    steps.push({
      text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thinking: message.content
        .map((block) => (block.type === "thinking" ? block.thinking : ""))
        .join(""),
      toolCalls: calls.map((call) => ({ name: call.name, arguments: call.arguments })),
      finish: message.stopReason,
      usage: {
        input: message.usage.input + message.usage.cacheRead,
        output: message.usage.output,
      },
    });
    if (calls.length === 0) return steps;
    context.messages.push(message);
    for (const call of calls) {
      context.messages.push({
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [{ type: "text", text: run(call.name, call.arguments) }],
        isError: false,
        timestamp: 0,
      });
    }
  }
}
