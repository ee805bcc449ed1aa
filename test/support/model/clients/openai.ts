// The `openai` package, over both of its APIs.

import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { Response, ResponseInputItem } from "openai/resources/responses/responses";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client, type RunTool, type Step } from "./client.ts";

function connect(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
}

export function openAiChat(streamed: boolean): Client {
  return {
    name: `openai, chat, ${streamed ? "streamed" : "whole"}`,
    api: "chat",
    words: { tools: "tool_calls", stop: "stop", length: "length" },
    converse: (url, run) => converseChat(connect(url), streamed, run),
  };
}

async function converseChat(client: OpenAI, streamed: boolean, run: RunTool): Promise<Step[]> {
  const steps: Step[] = [];
  const messages: ChatCompletionMessageParam[] = [
    { role: "system", content: SYSTEM },
    { role: "user", content: QUESTION },
  ];
  for (;;) {
    const request = {
      model: "scripted",
      messages,
      tools: TOOLS.map(({ name, description, schema }) => ({
        type: "function" as const,
        function: { name, description, parameters: schema },
      })),
    };
    const completion = streamed
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    const [choice] = completion.choices;
    if (!choice) throw new Error("no choice");
    const calls = (choice.message.tool_calls ?? []).filter((call) => call.type === "function");
    steps.push({
      text: choice.message.content ?? "",
      toolCalls: calls.map((call) => ({
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments),
      })),
      finish: choice.finish_reason,
      usage: {
        input: completion.usage?.prompt_tokens ?? 0,
        output: completion.usage?.completion_tokens ?? 0,
      },
    });
    if (calls.length === 0) return steps;
    messages.push(choice.message);
    for (const { id, function: called } of calls) {
      const content = run(called.name, JSON.parse(called.arguments));
      messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
}

export function openAiResponses(streamed: boolean): Client {
  return {
    name: `openai, responses, ${streamed ? "streamed" : "whole"}`,
    api: "responses",
    words: { tools: "completed", stop: "completed", length: "incomplete" },
    converse: (url, run) => converseResponses(connect(url), streamed, run),
  };
}

/** The whole conversation goes along when streamed; the server remembers it when not. */
async function converseResponses(client: OpenAI, streamed: boolean, run: RunTool): Promise<Step[]> {
  const steps: Step[] = [];
  let input: ResponseInputItem[] = [{ role: "user", content: QUESTION }];
  let previous: string | undefined;
  for (;;) {
    const request = {
      model: "scripted",
      instructions: SYSTEM,
      input,
      previous_response_id: previous,
      tools: TOOLS.map(({ name, description, schema }) => ({
        type: "function" as const,
        name,
        description,
        parameters: schema,
        strict: false,
      })),
    };
    const response: Response = streamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    const calls = response.output.filter((item) => item.type === "function_call");
    const thoughts = response.output.filter((item) => item.type === "reasoning");
    steps.push({
      text: response.output_text,
      thinking: thoughts.flatMap((item) => item.summary.map((part) => part.text)).join(""),
      toolCalls: calls.map((call) => ({
        name: call.name,
        arguments: JSON.parse(call.arguments),
      })),
      finish: response.status ?? "",
      usage: {
        input: response.usage?.input_tokens ?? 0,
        output: response.usage?.output_tokens ?? 0,
      },
    });
    if (calls.length === 0) return steps;
    const results = calls.map((call) => ({
      type: "function_call_output" as const,
      call_id: call.call_id,
      output: run(call.name, JSON.parse(call.arguments)),
    }));
    if (streamed) input.push(...(response.output as ResponseInputItem[]), ...results);
    else [input, previous] = [results, response.id];
  }
}
