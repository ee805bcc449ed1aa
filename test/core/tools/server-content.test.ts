import { describe, expect, it } from "vitest";
import { toCompletion, toContents, toPrompt } from "../../../src/core/tools/server-content.ts";

describe("what was read", () => {
  it("is text and blobs, as they came", () => {
    const contents = [
      { uri: "a:1", mimeType: "text/plain", text: "", _meta: { x: 1 } },
      { uri: "a:2", blob: "AAAA" },
    ];
    expect(toContents({ contents }, "a:0")).toEqual({ contents });
    expect(toContents({ contents: [] }, "a:0")).toEqual({ contents: [] });
  });

  it.each([
    [{ text: "t" }, { uri: "a:0", text: "t" }],
    [
      { uri: 5, mimeType: 6, text: "t", _meta: [] },
      { uri: "a:0", text: "t" },
    ],
    [{ uri: "a:1" }, 'content that is neither text nor a blob] {"uri":"a:1"}'],
    [null, "content that is neither text nor a blob] null"],
    ["t", "content that is neither text nor a blob] t"],
  ])("is seen where it is malformed: %j", (part, expected) => {
    const [read] = toContents({ contents: [part] }, "a:0").contents;
    if (typeof expected === "string") expect(read?.text).toContain(expected);
    else expect(read).toEqual(expected);
  });

  it.each([null, {}, { contents: "none" }, "text"])("is nothing: %j", (answer) => {
    expect(() => toContents(answer, "a:0")).toThrow("has no contents");
  });
});

const text = (value: string) => ({ type: "text", text: value });

describe("a prompt's messages", () => {
  it("are every kind of content, as it came", () => {
    const messages = [
      { role: "user", content: text("a") },
      { role: "assistant", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
      { role: "user", content: { type: "resource", resource: { uri: "a:1", text: "t" } } },
    ];
    expect(toPrompt({ description: "d", messages })).toEqual({ description: "d", messages });
  });

  it.each([
    [{ role: "system", content: text("a") }, [{ role: "user", content: text("a") }]],
    [{ role: "user", content: "a" }, [{ role: "user", content: text("a") }]],
    [
      { role: "assistant", content: [text("a"), "b"] },
      [
        { role: "assistant", content: text("a") },
        { role: "assistant", content: text("b") },
      ],
    ],
    [
      { role: "user", content: { type: "odd" } },
      [
        {
          role: "user",
          content: text('[content of type \'odd\' that is unknown or malformed] {"type":"odd"}'),
        },
      ],
    ],
    [null, [{ role: "user", content: text("[content without a type] null") }]],
  ])("are seen where they are malformed: %j", (message, messages) => {
    expect(toPrompt({ description: 5, messages: [message] })).toEqual({ messages });
  });

  it.each([null, {}, { messages: {} }])("are required of an answer: %j is rejected", (answer) => {
    expect(() => toPrompt(answer)).toThrow("has no messages");
  });
});

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
