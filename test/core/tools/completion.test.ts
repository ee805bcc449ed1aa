import { describe, expect, it } from "vitest";
import { toCompletion } from "../../../src/core/tools/completion.ts";

const many = Array.from({ length: 150 }, (_, at) => `v${at}`);

describe("a completion", () => {
  it.each([
    [{ values: [] }, { values: [] }],
    [
      { values: ["a", "b"], total: 5, hasMore: true },
      { values: ["a", "b"], total: 5, hasMore: true },
    ],
    [
      { values: ["a"], total: "5", hasMore: false },
      { values: ["a"], hasMore: false },
    ],
    [{ values: [1, "a", null, "x".repeat(5000)] }, { values: ["a"] }],
    [{ values: many }, { values: many.slice(0, 100), hasMore: true }],
  ])("is kept within bounds (%#)", (completion, expected) => {
    expect(toCompletion({ completion })).toEqual(expected);
  });

  it.each([null, {}, { completion: [] }, { completion: { values: "a" } }])(
    "is rejected where the answer has no values: %j",
    (answer) => {
      expect(() => toCompletion(answer)).toThrow("has no values");
    },
  );
});
