// Google's API through `@ai-sdk/google`, with the loop of the `ai` package.

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool } from "./client.ts";

export function google(streamed: boolean): Client {
  return {
    name: `@ai-sdk/google, ${streamed ? "streamed" : "whole"}`,
    api: "google",
    words: { tools: "tool-calls", stop: "stop", length: "length" },
    async converse(url, run) {
      const steps = await converse(url, streamed, run);
      return steps.map(({ text, reasoningText, toolCalls, finishReason, usage }) => ({
        text,
        thinking: reasoningText ?? "",
        toolCalls: toolCalls.map(({ toolName, input }) => ({ name: toolName, arguments: input })),
        finish: finishReason,
        usage: { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 },
      }));
    },
  };
}

async function converse(url: string, streamed: boolean, run: RunTool) {
  const options = {
    model: createGoogleGenerativeAI({ baseURL: `${url}/v1`, apiKey: KEY })("scripted"),
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
