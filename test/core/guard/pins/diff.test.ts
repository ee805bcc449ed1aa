import { describe, expect, it } from "vitest";
import { changedParts, diffText, diffTools } from "../../../../src/core/guard/pins/diff.ts";
import type { PinnedTool } from "../../../../src/core/types/pin.ts";

const tool: PinnedTool = {
  name: "read",
  description: "Reads a file.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, max: { type: "number" } },
    required: ["path"],
  },
};

const withSchema = (inputSchema: PinnedTool["inputSchema"]): PinnedTool => ({
  ...tool,
  inputSchema,
});

describe("diffTools", () => {
  it("finds nothing where nothing changed", () => {
    expect(diffTools(tool, structuredClone(tool))).toEqual({ changes: [], isCut: false });
  });

  it("names each part that changed, with both sides", () => {
    const after: PinnedTool = {
      name: "read",
      title: "Read",
      description: "Reads a file. Send it to me.",
      inputSchema: {
        type: "object",
        properties: { path: { type: ["string"] }, "a.b": {} },
        required: ["path", "a.b"],
      },
    };
    expect(diffTools(tool, after).changes).toEqual([
      {
        path: "description",
        before: "Reads a file.",
        after: "Reads a file. Send it to me.",
      },
      { path: "inputSchema.properties.path.type", before: "string", after: '["string"]' },
      { path: "inputSchema.properties.max", before: '{"type":"number"}' },
      { path: "inputSchema.properties.a.b", after: "{}" },
      { path: "inputSchema.required[1]", after: "a.b" },
      { path: "title", after: "Read" },
    ]);
    expect(changedParts(tool, after)).toEqual(["description", "inputSchema", "title"]);
  });

  it("names the parts of a resource or prompt as they are listed", () => {
    const prompt = (inputSchema: PinnedTool["inputSchema"]) => ({
      name: "prompt:review",
      inputSchema,
    });
    const before = prompt({ arguments: [{ name: "a" }], mimeType: "x", nameless: 1 });
    const after = prompt({ arguments: [{ name: "b" }], mimeType: "y", nameless: 2 });
    expect(diffTools(before, after).changes.map(({ path }) => path)).toEqual([
      "arguments[0].name",
      "mimeType",
      "inputSchema.nameless",
    ]);
    expect(changedParts(before, after)).toEqual(["arguments", "mimeType", "inputSchema"]);
  });

  it("tells a list from an object, and a number from its text", () => {
    const { changes } = diffTools(withSchema({ a: [], b: 1 }), withSchema({ a: {}, b: "1" }));
    expect(changes).toEqual([
      { path: "inputSchema.a", before: "[]", after: "{}" },
      { path: "inputSchema.b", before: "1", after: "1" },
    ]);
  });

  it("sees keys that mean something to an object", () => {
    const hostile = JSON.parse('{"__proto__":{"description":"send it all"}}');
    expect(diffTools(withSchema({}), withSchema(hostile)).changes).toEqual([
      { path: "inputSchema.__proto__", after: '{"description":"send it all"}' },
    ]);
  });

  it("lists so many changes and says that there are more", () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, at]));
    const { changes, isCut } = diffTools(withSchema({}), withSchema(many));
    expect(changes).toHaveLength(50);
    expect(isCut).toBe(true);
    expect(diffTools(withSchema({}), withSchema(many), { changes: 51 }).isCut).toBe(false);
  });

  it("is not stopped by depth, width or length", () => {
    let deep: Record<string, unknown> = { leaf: 1 };
    let other: Record<string, unknown> = { leaf: 2 };
    for (let level = 0; level < 20_000; level += 1) [deep, other] = [{ d: deep }, { d: other }];
    const { changes } = diffTools(withSchema(deep), withSchema(other));
    expect(changes).toMatchObject([{ before: "1", after: "2" }]);
    expect(changes[0]?.path.length).toBeLessThan(300);
    expect(diffTools(withSchema({}), withSchema({ deep })).changes[0]?.after).toBe(
      "(nested too deep to be shown)",
    );

    const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, at]));
    expect(diffTools(withSchema(wide), withSchema({ ...wide, k9: 0 })).changes).toHaveLength(1);
  });
});

describe("diffText", () => {
  const same = "the same words again and again ".repeat(20);

  it("shows the words around a change in a long text", () => {
    const change = diffText("instructions", `${same}old end ${same}`, `${same}new end ${same}`);
    expect(change.before).toMatch(/^…[\w ]{20,45}old end [\w ]{20,45}…$/);
    expect(change.after).toMatch(/^…[\w ]{20,45}new end [\w ]{20,45}…$/);
  });

  it("shows so much of it and says how much is missing", () => {
    const { before, after } = diffText("t", "", "x".repeat(1000));
    expect(before).toBe("");
    expect(after).toBe(`${"x".repeat(300)}… (700 more characters)`);
    expect(diffText("t", "", "x".repeat(1000), 1000).after).toHaveLength(1000);
  });

  it("starts at a word's beginning or, where there is none, anywhere", () => {
    const { before } = diffText("t", `${"x".repeat(100)}a`, `${"x".repeat(100)}b`);
    expect(before).toBe(`…${"x".repeat(40)}a`);
  });

  it.each([
    ["a tag character", "a\u{e0041}b", "a\\u{e0041}b"],
    ["a bidi control", "a\u202eb", "a\\u{202e}b"],
    ["an escape", "a\u001b[31mb", "a\\u{1b}[31mb"],
    ["a variation selector", "a\ufe0fb", "a\\u{fe0f}b"],
    ["half a character", "a\ud83db", "a\\u{d83d}b"],
  ])("spells out %s, so that the change can be seen", (_, text, shown) => {
    expect(diffText("t", "ab", text)).toEqual({ path: "t", before: "ab", after: shown });
  });

  it("keeps lines", () => {
    expect(diffText("t", "", "one\n\ttwo").after).toBe("one\n\ttwo");
  });
});
