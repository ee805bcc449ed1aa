import { describe, expect, it } from "vitest";
import { toContents } from "../../../src/core/tools/resource.ts";

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
