import { describe, expect, it } from "vitest";
import type { TurnEvent } from "../../../src/agent/loop/loop.ts";
import { Screen } from "../../../src/cli/terminal/screen.ts";
import { TurnView } from "../../../src/cli/ask/turn-view.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { Sink, terminal } from "../harness.ts";

/** What comes out for these events, on one output, in order. */
function shown(...events: TurnEvent[]): string {
  const sink = new Sink();
  const screen = new Screen(sink, sink, terminal(), systemClock);
  const view = new TurnView({ screen, options: { json: false } as never });
  for (const event of events) view.on(event);
  return sink.text;
}

const call: TurnEvent = { type: "tool_call", id: "1", name: "made\nup", input: { a: "b\u001b" } };

describe("a turn on the terminal", () => {
  it.each<[string, TurnEvent[], string]>([
    [
      "text as it comes",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      "ab",
    ],
    ["nothing of thoughts", [{ type: "thought", text: "hm" }], ""],
    [
      "nothing of usage",
      [
        {
          type: "usage",
          usage: { input: 1, output: 1, cached: 0, reasoning: 0 },
          used: 2,
          window: 9,
        },
      ],
      "",
    ],
    [
      "a call on a line of its own",
      [{ type: "text", text: "a" }, call],
      'a\nmade up {"a":"b\\u001b"}\n',
    ],
    [
      "its progress",
      [
        call,
        {
          type: "tool_update",
          id: "1",
          name: "made\nup",
          update: { content: [], progress: { progress: 1, total: 2, message: "half" } },
        },
        { type: "tool_update", id: "1", name: "made\nup", update: { content: [] } },
      ],
      'made up {"a":"b\\u001b"}\nmade up: 1/2 (50 %) half\n',
    ],
    [
      "why it failed",
      [
        {
          type: "tool_result",
          id: "2",
          name: "x",
          isError: true,
          outcome: { content: [{ type: "text", text: "no\nway" }], isError: true },
          content: [],
        },
      ],
      "2 failed: no way\n",
    ],
    [
      "that the model is asked again",
      [
        { type: "text", text: "a" },
        { type: "retry", attempt: 1, delayMs: 2000, reason: "it is down" },
      ],
      "a\nit is down; asking again in 2 s\n",
    ],
    [
      "what was left out",
      [{ type: "compaction", results: 2, messages: 1 }],
      "the conversation no longer fits the model: 2 tool results and 1 earlier message left out\n",
    ],
    ["what is worth knowing", [{ type: "notice", text: "left\u001b[1m out" }], "left out\n"],
    [
      "a new line for a new step",
      [
        { type: "text", text: "a" },
        { type: "step", step: 2 },
      ],
      "a\n",
    ],
  ])("shows %s", (_, events, text) => {
    expect(shown(...events)).toBe(text);
  });
});
