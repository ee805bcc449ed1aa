// What the tests ask of every client library: one conversation, tool calls answered until there are none.

import type { ApiName } from "../start.mjs";

export interface Step {
  text: string;
  /** Left out by a library that does not show it. */
  thinking?: string;
  toolCalls: { name: string; arguments: unknown }[];
  /** In the library's own word. */
  finish: string;
  usage: { input: number; output: number };
}

export type RunTool = (name: string, args: unknown) => string;

export interface Client {
  name: string;
  api: ApiName;
  /** Its words for a turn that calls tools, one that ends, and one that was cut short. */
  words: { tools: string; stop: string; length: string };
  converse(url: string, run: RunTool): Promise<Step[]>;
}

export const QUESTION = "How is it — draußen? 🌍";

export const SYSTEM = "Be brief.";

export const TOOLS = [
  {
    name: "weather",
    description: "The weather in a city",
    schema: {
      type: "object" as const,
      properties: { city: { type: "string" }, note: { type: "string" } },
      required: ["city"],
    },
  },
  {
    name: "now",
    description: "The time",
    schema: { type: "object" as const, properties: {} },
  },
];

export const KEY = "key-for-tests";
