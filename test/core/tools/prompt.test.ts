import { describe, expect, it } from "vitest";
import { toPrompt } from "../../../src/core/tools/prompt.ts";

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
