import { describe, expect, it } from "vitest";
import { sampledText, samplingText } from "../../../src/agent/loop/sampling-text.ts";
import type { SamplingRequest } from "../../../src/core/types/sampling.ts";

const request: SamplingRequest = {
  server: "s",
  approvalRequired: true,
  messages: [{ role: "user", content: [{ type: "text", text: "Hello\u001b[31m?" }] }],
  maxTokens: 100,
  signal: new AbortController().signal,
};

describe("what a server wants to ask", () => {
  it("is shown with the system prompt, all messages and the tools", () => {
    const text = samplingText({
      ...request,
      systemPrompt: "Be kind.",
      messages: [
        ...request.messages,
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c1", name: "now", input: { zone: "UTC" } }],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", toolUseId: "c1", content: [{ type: "text", text: "noon" }] },
            { type: "image", data: "AAAA", mimeType: "image/png" },
          ],
        },
      ],
      tools: [{ name: "now", inputSchema: { type: "object" } }],
    });
    expect(text.split("\n\n")).toEqual([
      "system prompt: Be kind.",
      "user: Hello?",
      'assistant: [calls now {"zone":"UTC"}]',
      expect.stringMatching(/^user: \[result: noon\]\n\[image.*image\/png/),
      "tools: now",
    ]);
  });

  it("is cut, and how much is missing is said", () => {
    const text = samplingText({ ...request, systemPrompt: "x".repeat(10_000) });
    expect(text).toMatch(/x\n\n\(and \d+ more characters\)$/);
    expect(text.length).toBeLessThan(8100);
  });
});

describe("what the model answered", () => {
  it("is one text, of however many blocks", () => {
    expect(sampledText({ type: "text", text: "a\u202eb" })).toBe("ab");
    expect(
      sampledText([
        { type: "text", text: "so" },
        { type: "tool_use", id: "c1", name: "now", input: {} },
      ]),
    ).toBe("so\n[calls now {}]");
  });
});
