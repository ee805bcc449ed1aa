import type { ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import {
  IMAGES_AFTER_RESULTS,
  IMAGES_AND_PDF,
  IMAGES_IN_PROMPTS,
} from "../../../src/agent/loop/provider.ts";
import { switchModel } from "../../../src/agent/loop/switch-model.ts";

const signed = { anthropic: { signature: "abc" } };

const call = (toolCallId: string): ModelMessage => ({
  role: "assistant",
  content: [
    { type: "reasoning", text: "hm", providerOptions: signed },
    { type: "text", text: "let me see", providerOptions: signed },
    { type: "tool-call", toolCallId, toolName: "look", input: { a: 1 }, providerOptions: signed },
  ],
});

const result = (toolCallId: string): ModelMessage => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId,
      toolName: "look",
      output: { type: "text", value: "seen" },
      providerOptions: signed,
    },
  ],
});

describe("a conversation that another model goes on with", () => {
  it("has no thoughts and nothing of the provider's own", () => {
    const before: ModelMessage[] = [
      { role: "user", content: "hello", providerOptions: signed },
      call("call_1"),
      result("call_1"),
      { role: "assistant", content: "done", providerOptions: signed },
    ];
    const copy = structuredClone(before);
    expect(switchModel(before, IMAGES_AND_PDF)).toEqual([
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "let me see" },
          { type: "tool-call", toolCallId: "call_1", toolName: "look", input: { a: 1 } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "look",
            output: { type: "text", value: "seen" },
          },
        ],
      },
      { role: "assistant", content: "done" },
    ]);
    expect(before).toEqual(copy);
  });

  it("has no message that was nothing but thoughts", () => {
    const thoughts: ModelMessage = {
      role: "assistant",
      content: [{ type: "reasoning", text: "hm" }],
    };
    const system: ModelMessage = { role: "system", content: "be brief" };
    expect(switchModel([system, thoughts], IMAGES_AND_PDF)).toEqual([system]);
  });

  it.each(["functions.look:0", "x".repeat(65), "é"])(
    "has ids that every provider takes, in place of %s",
    (id) => {
      const [asked, answered] = switchModel([call(id), result(id), call("ok")], IMAGES_AND_PDF);
      expect(asked).toMatchObject({ content: [{}, { toolCallId: "renamed_0" }] });
      expect(answered).toMatchObject({ content: [{ toolCallId: "renamed_0" }] });
    },
  );

  const files: ModelMessage[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", image: "AAAA", mediaType: "image/png" },
        { type: "file", data: "AAAA", mediaType: "application/pdf", filename: "document.pdf" },
        { type: "file", data: "AAAA", mediaType: "application/pdf" },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c",
          toolName: "look",
          output: {
            type: "content",
            value: [
              { type: "text", text: "a picture" },
              { type: "image-data", data: "AAAA", mediaType: "image/png" },
            ],
          },
        },
        { type: "tool-approval-response", approvalId: "a", approved: true },
      ],
    },
  ];

  it("keeps files for a model that reads them", () => {
    expect(switchModel(files, IMAGES_AND_PDF)).toEqual(files);
  });

  it("keeps the images in results for one that gets them after the result", () => {
    expect(switchModel(files, IMAGES_AFTER_RESULTS)[1]).toEqual(files[1]);
  });

  it("says where a file was for one that does not", () => {
    const [said, answered] = switchModel(files, IMAGES_IN_PROMPTS);
    expect(said).toMatchObject({
      content: [
        { text: "look" },
        { type: "image" },
        { type: "text", text: "[document.pdf, which this model cannot read]" },
        { type: "text", text: "[a file, which this model cannot read]" },
      ],
    });
    expect(answered).toMatchObject({
      content: [
        { output: { type: "text", value: "a picture\n[a file that this model cannot read]" } },
        { type: "tool-approval-response" },
      ],
    });
  });
});
