// The `@langchain/openai` package, over both of OpenAI's APIs.

import {
  type AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool, type Step } from "./client.ts";

export function langchain(api: "chat" | "responses", streamed: boolean): Client {
  return {
    name: `@langchain/openai, ${api}, ${streamed ? "streamed" : "whole"}`,
    api,
    words:
      api === "chat"
        ? { tools: "tool_calls", stop: "stop", length: "length" }
        : { tools: "completed", stop: "completed", length: "incomplete" },
    converse(url, run) {
      const model = new ChatOpenAI({
        model: "scripted",
        apiKey: KEY,
        maxRetries: 0,
        useResponsesApi: api === "responses",
        configuration: { baseURL: `${url}/v1` },
      });
      return converse(model, streamed, run);
    },
  };
}

async function converse(model: ChatOpenAI, streamed: boolean, run: RunTool): Promise<Step[]> {
  const steps: Step[] = [];
  const messages: BaseMessage[] = [new SystemMessage(SYSTEM), new HumanMessage(QUESTION)];
  const bound = model.bindTools(
    TOOLS.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
  );
  for (;;) {
    let message: AIMessageChunk;
    if (streamed) {
      const chunks: AIMessageChunk[] = [];
      for await (const chunk of await bound.stream(messages)) chunks.push(chunk);
      message = chunks.reduce((all, chunk) => all.concat(chunk));
    } else {
      message = await bound.invoke(messages);
    }
    const { tool_calls: calls = [], usage_metadata: usage, response_metadata: about } = message;
    steps.push({
      text: message.text,
      toolCalls: calls.map(({ name, args }) => ({ name, arguments: args })),
      finish: String(about.finish_reason ?? about.status),
      usage: { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 },
    });
    if (calls.length === 0) return steps;
    messages.push(message);
    for (const { id = "", name, args } of calls) {
      messages.push(new ToolMessage({ tool_call_id: id, content: run(name, args) }));
    }
  }
}
