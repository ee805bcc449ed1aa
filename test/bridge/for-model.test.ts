import { describe, expect, it } from "vitest";
import { emptyText, forModel, isEmpty } from "../../src/bridge/for-model.ts";
import type { CallOutcome } from "../../src/model/tool.ts";

const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

function nested(): unknown {
  let value: unknown = {};
  for (let level = 0; level < 100_000; level += 1) value = { value };
  return value;
}

describe("what a model reads", () => {
  it.each<[string, CallOutcome, string]>([
    ["of no content", { content: [] }, "(empty result)"],
    ["of empty texts", { content: [text(""), text("")] }, "(empty result)"],
    [
      "of an error without content",
      { content: [], isError: true },
      "(the tool reported an error without details)",
    ],
    [
      "of an error with empty text",
      { content: [text("")], isError: true },
      "(the tool reported an error without details)",
    ],
    ["of structured content alone", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
    [
      "of an error with structured content",
      { content: [], structuredContent: { why: 1 }, isError: true },
      '{"why":1}',
    ],
    [
      "of structured content beyond measure",
      { content: [], structuredContent: nested() },
      "(nested too deep to show)",
    ],
  ])("%s", (_, outcome, words) => {
    expect(isEmpty(outcome)).toBe(true);
    expect(emptyText(outcome)).toBe(words);
    expect(forModel(outcome).content).toEqual([text(words)]);
  });

  it.each<[string, CallOutcome]>([
    ["text", { content: [text("hi")] }],
    ["a blank", { content: [text(" ")] }],
    ["an image", { content: [image] }],
    ["an empty text beside something", { content: [text(""), image] }],
    ["text beside structured content", { content: [text("hi")], structuredContent: { a: 1 } }],
  ])("is the content itself where there is some: %s", (_, outcome) => {
    expect(isEmpty(outcome)).toBe(false);
    expect(forModel(outcome).content).toBe(outcome.content);
  });

  it("comes with the raw outcome, and says whether it is an error", () => {
    const fine: CallOutcome = { content: [text("hi")], _meta: { a: 1 } };
    expect(forModel(fine)).toEqual({ content: fine.content, details: fine });
    expect(forModel(fine).details).toBe(fine);
    const failed: CallOutcome = { content: [], isError: true };
    expect(forModel(failed)).toMatchObject({ isError: true, details: failed });
    expect(failed.content).toEqual([]);
  });
});
