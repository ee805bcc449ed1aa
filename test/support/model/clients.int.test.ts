// The scripted model speaks as the providers do: for each wire format, a client library understands it.

import { afterEach, describe, expect, it } from "vitest";
import { anthropic } from "./clients/anthropic.ts";
import { KEY, QUESTION, SYSTEM, TOOLS, type Client } from "./clients/client.ts";
import { google } from "./clients/google.ts";
import { openAiChat, openAiResponses } from "./clients/openai.ts";
import { startModel, type Model, type ModelOptions } from "./start.mjs";

const BOTH = [false, true];

const CLIENTS: Client[] = [
  ...BOTH.map(openAiChat),
  ...BOTH.map(openAiResponses),
  ...BOTH.map(anthropic),
  ...BOTH.map(google),
];

/** Cut into deltas and writes, this is torn inside escapes and inside characters of two to four bytes. */
const THINKING = 'Où? „Zürich“ 你好 🤔 \\ "quoted"\n';
const TEXT = 'I\'ll look — Grüße 😀\n\t"und" \\ more\u0001.';
const WEATHER = { city: "Zürich 🌧️", note: 'a"b\\c\n\u0001é你\u2028 /"' };

let model: Model | undefined;

async function start(options: ModelOptions): Promise<Model> {
  model = await startModel({ apiKey: KEY, ...options });
  return model;
}

afterEach(() => model?.close());

function run(name: string): string {
  return name === "now" ? "zwölf Uhr" : "rain ☔";
}

describe.each(CLIENTS)("$name", (client) => {
  it("hears thoughts, text and tool calls, and answers them", async () => {
    const { url, requests } = await start({
      turns: [
        {
          thinking: THINKING,
          text: TEXT,
          toolCalls: [
            { name: "weather", arguments: WEATHER, id: "call_first" },
            { name: "now", arguments: {} },
          ],
          usage: { input: 100, output: 42, cached: 30, reasoning: 7 },
        },
        ({ toolResults }) => ({
          text: toolResults.map(({ name, text }) => `${name}: ${text}`).join("; "),
          usage: { input: 200, output: 10 },
        }),
      ],
    });

    const heard: unknown[] = [];
    const steps = await client.converse(url, (name, args) => {
      heard.push([name, args]);
      return run(name);
    });

    const [first] = steps;
    const thoughts = first && "thinking" in first;
    expect(steps).toEqual([
      {
        text: TEXT,
        ...(thoughts ? { thinking: THINKING } : {}),
        toolCalls: [
          { name: "weather", arguments: WEATHER },
          { name: "now", arguments: {} },
        ],
        finish: client.words.tools,
        usage: { input: 100, output: 42 },
      },
      {
        text: "weather: rain ☔; now: zwölf Uhr",
        ...(thoughts ? { thinking: "" } : {}),
        toolCalls: [],
        finish: client.words.stop,
        usage: { input: 200, output: 10 },
      },
    ]);
    expect(heard).toEqual([
      ["weather", WEATHER],
      ["now", {}],
    ]);

    expect(requests).toHaveLength(2);
    const [asked, answered] = requests;
    expect(asked).toMatchObject({
      api: client.api,
      model: "scripted",
      messages: [
        { role: "system", text: SYSTEM, toolCalls: [] },
        { role: "user", text: QUESTION, toolCalls: [] },
      ],
      toolResults: [],
      outcome: "answered",
    });
    expect(asked?.tools).toMatchObject(TOOLS);
    expect(answered?.toolResults).toMatchObject([
      { name: "weather", text: "rain ☔", isError: false },
      { name: "now", text: "zwölf Uhr", isError: false },
    ]);
    const calls = answered?.messages.flatMap(({ toolCalls }) => toolCalls) ?? [];
    expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual(heard);
    expect(answered?.messages.map(({ text }) => text)).toContain(TEXT);
  });

  it("hears that an answer is cut short", async () => {
    const { url } = await start({ turns: [{ text: "Well, it", finish: "length" }] });
    const [only] = await client.converse(url, run);
    expect(only).toMatchObject({ text: "Well, it", finish: client.words.length });
  });

  it("hears of a failure, in the script's words", async () => {
    const { url } = await start({ turns: [{ error: { status: 400, message: "out of cheese" } }] });
    await expect(client.converse(url, run)).rejects.toThrow("out of cheese");
  });
});
