import { describe, expect, it } from "vitest";
import { toOutcome as convert } from "../../../src/core/tools/outcome.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";

function toOutcome(result: unknown) {
  return convert(result, (received) => `<${JSON.stringify(received)}>`);
}

const annotations = { audience: ["user"], priority: 0.5 };
const _meta = { "example.com/a": { b: [1] } };

const BLOCKS: Record<string, ContentBlock> = {
  text: { type: "text", text: "two\nlines, é, 😀" },
  "empty text": { type: "text", text: "" },
  image: { type: "image", data: "aGk=", mimeType: "image/png" },
  audio: { type: "audio", data: "aGk=", mimeType: "audio/wav" },
  "resource with text": {
    type: "resource",
    resource: { uri: "file:///a", mimeType: "text/plain", text: "hi", _meta },
  },
  "resource with bytes": { type: "resource", resource: { uri: "file:///a", blob: "aGk=" } },
  "resource link": {
    type: "resource_link",
    uri: "https://example.com/",
    name: "a",
    title: "A",
    description: "b",
    mimeType: "text/html",
    size: 5,
  },
};

/** Deeper than the stack: what walks it by recursion overflows. */
function nested(): unknown {
  let value: unknown = "core";
  for (let level = 0; level < 100_000; level += 1) value = [value];
  return value;
}

describe("a result of another kind", () => {
  const content = [{ type: "text", text: "no such zone" }];
  it.each<[string, object, object]>([
    ["is unwrapped where toolResult holds it", { toolResult: { content } }, { content }],
    [
      "is unwrapped with its error",
      { toolResult: { content, isError: true }, _meta },
      { content, isError: true, _meta },
    ],
    ["is an error with is_error", { content, is_error: true }, { content, isError: true }],
    ["is an ordinary result with is_error: false", { content, is_error: false }, { content }],
    [
      "stays as it is where toolResult has no content",
      { toolResult: { zone: 1 } },
      { content: [{ type: "text", text: '{"zone":1}' }] },
    ],
  ])("%s", (_, received, outcome) => {
    expect(toOutcome(received)).toEqual(outcome);
  });
});

describe("content", () => {
  it.each(Object.entries(BLOCKS))("of kind %s is carried without loss", (_, block) => {
    const whole = { ...block, annotations, _meta, "x-unknown": 1 };
    expect(toOutcome({ content: [whole] })).toEqual({ content: [whole] });
  });

  it("keeps its order, and is not copied where all of it is well-formed", () => {
    const content = Object.values(BLOCKS);
    expect(toOutcome({ content }).content).toBe(content);
  });

  it.each<[string, unknown, string]>([
    [
      "text without text",
      { type: "text" },
      '[content of type \'text\' that is unknown or malformed] {"type":"text"}',
    ],
    [
      "a text block whose text is not a string",
      { type: "text", text: 5 },
      '[content of type \'text\' that is unknown or malformed] {"type":"text","text":5}',
    ],
    ["an image without a type", { type: "image", data: "aGk=" }, "[content of type 'image' that"],
    [
      "audio without data",
      { type: "audio", mimeType: "audio/wav" },
      "[content of type 'audio' that",
    ],
    [
      "a resource block without a resource",
      { type: "resource", resource: "a" },
      "[content of type 'resource' that",
    ],
    [
      "a resource without an address",
      { type: "resource", resource: {} },
      "[content of type 'resource' that",
    ],
    ["a link to nothing", { type: "resource_link" }, "[content of type 'resource_link' that"],
    ["a kind of the future", { type: "hologram", data: 1 }, "[content of type 'hologram' that"],
    ["a kind with escapes", { type: "\u001b[31mred" }, "[content of a type that"],
    // Nothing is cut before secrets are searched for.
    ["a kind of a thousand characters", { type: "k".repeat(1000) }, "[content of a type that"],
    ["no kind", { text: "hi" }, '[content without a type] {"text":"hi"}'],
    ["a kind that is no text", { type: 5 }, "[content without a type] "],
    ["a bare string", "hi", "[content without a type] hi"],
    ["null", null, "[content without a type] null"],
    ["a number", 5, "[content without a type] 5"],
    ["nothing", undefined, "[content without a type] undefined"],
    ["a list", ["hi"], '[content without a type] ["hi"]'],
    [
      "something nested beyond measure",
      nested(),
      "[content without a type] (nested too deep to show)",
    ],
  ])("that is malformed becomes visible text, the rest stays: %s", (_, block, text) => {
    const fine = BLOCKS.image;
    const { content } = toOutcome({ content: [fine, block] });
    expect(content[0]).toBe(fine);
    expect(content[1]).toEqual({ type: "text", text: expect.stringContaining(text) });
    expect(content).toHaveLength(2);
  });

  it.each<[string, object, ContentBlock[]]>([
    ["absent beside structured content", { structuredContent: {} }, []],
    ["null beside structured content", { content: null, structuredContent: [] }, []],
    ["empty", { content: [] }, []],
    ["a string", { content: "hi" }, [{ type: "text", text: "hi" }]],
    ["an object", { content: { type: "text" } }, [{ type: "text", text: '{"type":"text"}' }]],
    ["the one value of 2024-10-07", { toolResult: { a: 1 } }, [{ type: "text", text: '{"a":1}' }]],
    ["that and a list", { toolResult: 1, content: [] }, []],
  ])("may be %s", (_, result, content) => {
    expect(toOutcome(result).content).toEqual(content);
  });
});

describe("the rest of a result", () => {
  it.each<[string, object, object]>([
    ["structured content", { structuredContent: { a: [1] } }, { structuredContent: { a: [1] } }],
    ["structured content of any kind", { structuredContent: [1] }, { structuredContent: [1] }],
    [
      "structured content that is false",
      { structuredContent: false },
      { structuredContent: false },
    ],
    ["no structured content of null", { structuredContent: null }, {}],
    ["that it is an error", { isError: true }, { isError: true }],
    ["no error that is not", { isError: false }, {}],
    ["no error that is malformed", { isError: "true" }, {}],
    ["its _meta", { _meta }, { _meta }],
    ["no _meta that is malformed", { _meta: [1] }, {}],
    ["nothing that is unknown", { resultType: "complete", ttlMs: 5 }, {}],
  ])("is kept: %s", (_, result, kept) => {
    expect(toOutcome({ content: [], ...result })).toEqual({ content: [], ...kept });
  });
});

describe("an answer that nobody could pass on", () => {
  it.each<[string, object]>([
    ["structured content", { structuredContent: nested() }],
    ["a block's _meta", { content: [{ type: "text", text: "hi", _meta: { a: nested() } }] }],
    ["its _meta", { _meta: { a: nested() } }],
  ])("is refused: %s is nested beyond measure", (_, result) => {
    expect(() => toOutcome({ content: [], ...result })).toThrow(
      expect.objectContaining({
        code: "INVALID_RESULT",
        message: "its answer is nested more than 1000 levels deep",
      }),
    );
  });
});

describe("an answer that is not a result", () => {
  it.each([undefined, null, "done", 5, true, [[]]])("is an error that shows it: %j", (answer) => {
    expect(() => toOutcome(answer)).toThrow(
      expect.objectContaining({
        code: "PROTOCOL",
        message: `the server's answer to tools/call is not a result: <${JSON.stringify(answer)}>`,
      }),
    );
  });

  it.each([
    {},
    { nonsense: true },
    { content: null },
    { structuredContent: null },
    { isError: true },
    { _meta: {} },
  ])("because it has no content is an error that shows it: %j", (answer) => {
    expect(() => toOutcome(answer)).toThrow(
      expect.objectContaining({
        code: "PROTOCOL",
        message: `the server's answer to tools/call has no content: <${JSON.stringify(answer)}>`,
      }),
    );
  });
});
