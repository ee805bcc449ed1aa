// What the editor gets of a call that has ended.

import { expect, it } from "vitest";
import { callEnded } from "../../../../src/agent/acp/calls/tool-calls.ts";
import type { CallOutcome } from "../../../../src/core/types/tool.ts";

const text = (words: string): CallOutcome["content"] => [{ type: "text", text: words }];
const LONG = "word ".repeat(10_000);
const STRUCTURE = { rows: LONG.split(" ") };

it.each<[string, CallOutcome, unknown]>([
  ["a short text", { content: text("hi") }, { content: text("hi") }],
  ["a long text", { content: text(LONG) }, undefined],
  ["a short structure", { content: text("1"), structuredContent: { n: 1 } }, { n: 1 }],
  [
    "a long structure that its text repeats",
    { content: text(JSON.stringify(STRUCTURE, undefined, 2)), structuredContent: STRUCTURE },
    undefined,
  ],
  ["a long structure without a text", { content: [], structuredContent: STRUCTURE }, undefined],
  [
    "a long structure whose text says something else",
    { content: text("2 rows"), structuredContent: STRUCTURE },
    STRUCTURE,
  ],
  [
    "a failure",
    { content: text(LONG), isError: true, failure: { code: "TIMEOUT", message: "late" } },
    { failure: { code: "TIMEOUT", message: "late" } },
  ],
])("%s is sent once if it is large", (_, outcome, rawOutput) => {
  const update = callEnded("c", outcome);
  expect(update).toMatchObject({ toolCallId: "c", content: [{ type: "content" }] });
  expect(update).toHaveProperty("rawOutput", rawOutput);
});
