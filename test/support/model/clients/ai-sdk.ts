// The `ai` package with its own loop, over every provider that reaches an API of the scripted model.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from "ai";
import type { ApiName } from "../start.mjs";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool } from "./client.ts";

interface Provider {
  name: string;
  api: ApiName;
  /** Its chat API says nothing of thoughts. */
  silent?: boolean;
  model(url: string): LanguageModel;
}

export const AI_SDK_PROVIDERS: Provider[] = [
  {
    name: "@ai-sdk/openai, chat",
    api: "chat",
    silent: true,
    model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: KEY }).chat("scripted"),
  },
  {
    name: "@ai-sdk/openai, responses",
    api: "responses",
    model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: KEY }).responses("scripted"),
  },
  {
    name: "@ai-sdk/openai-compatible",
    api: "chat",
    model: (url) =>
      createOpenAICompatible({
        name: "scripted",
        baseURL: `${url}/v1`,
        apiKey: KEY,
        includeUsage: true,
      })("scripted"),
  },
  {
    name: "@ai-sdk/anthropic",
    api: "messages",
    model: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: KEY })("scripted"),
  },
  {
    name: "@ai-sdk/google",
    api: "google",
    model: (url) => createGoogleGenerativeAI({ baseURL: `${url}/v1`, apiKey: KEY })("scripted"),
  },
];

export function aiSdk(provider: Provider, streamed: boolean): Client {
  return {
    name: `${provider.name}, ${streamed ? "streamed" : "whole"}`,
    api: provider.api,
    words: { tools: "tool-calls", stop: "stop", length: "length" },
    async converse(url, run) {
      const steps = await converse(provider.model(url), streamed, run);
      return steps.map(({ text, reasoningText, toolCalls, finishReason, usage }) => ({
        text,
        ...(provider.silent ? {} : { thinking: reasoningText ?? "" }),
        toolCalls: toolCalls.map(({ toolName, input }) => ({
          name: toolName,
          arguments: input,
        })),
        finish: finishReason,
        usage: { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 },
      }));
    },
  };
}

async function converse(model: LanguageModel, streamed: boolean, run: RunTool) {
  const options = {
    model,
    system: SYSTEM,
    prompt: QUESTION,
    maxRetries: 0,
    maxOutputTokens: 1000,
    stopWhen: stepCountIs(5),
    tools: Object.fromEntries(
      TOOLS.map(({ name, description, schema }) => [
        name,
        tool({
          description,
          inputSchema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]),
          execute: (input) => run(name, input),
        }),
      ]),
    ),
  };
  if (!streamed) return (await generateText(options)).steps;
  let failure: unknown;
  const result = streamText({
    ...options,
    onError({ error }) {
      failure = error;
    },
  });
  await result.consumeStream();
  if (failure !== undefined) throw failure;
  return result.steps;
}
