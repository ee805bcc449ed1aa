import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../../../src/core/types/tool.ts";
import { TOOL_LIST } from "../../../../src/core/upstream/lists/list-tools.ts";
import { TextCleaner } from "../../../../src/core/upstream/lists/text-cleaner.ts";

const TAGS = String.fromCodePoint(0xe0069, 0xe0067, 0xe006e);

function clean(tool: Partial<ToolDefinition>, redact?: (text: string) => string) {
  const given = { name: "search", inputSchema: { type: "object" }, ...tool };
  const before = JSON.stringify(given);
  const cleaner = new TextCleaner(redact ?? ((text) => text));
  const result = TOOL_LIST.clean(given, cleaner);
  expect(JSON.stringify(given)).toBe(before);
  return { tool: result, said: cleaner.changes() };
}

describe("a description", () => {
  it.each<[string, string, string]>([
    ["terminal escapes", "\u001b[2Jred\u001b[0m", "red"],
    ["control characters", "a\u0000b\u0008c\u0085d", "abcd"],
    ["bidi controls", "a\u202eb\u2066c\u2069d\u200f", "abcd"],
    ["tag characters", `a${TAGS}b`, "ab"],
    ["zero-width characters", "a\u200bb\u2060c\ufeffd", "abcd"],
    ["variation selectors that no emoji has", "a\u{e0101}b\ufe00", "ab"],
    ["line separators", "a\u2028b", "ab"],
  ])("loses %s, which is reported", (_, text, plain) => {
    const { tool, said } = clean({ description: text });
    expect(tool.description).toBe(plain);
    expect(said).toEqual(["invisible characters were removed from its description"]);
  });

  it.each<[string, string, string]>([
    ["what is in plain sight", "Grüße,\n\t世界 🌍", "Grüße,\n\t世界 🌍"],
    ["line ends of another system", "a\r\nb\rc", "a\nb\nc"],
    [
      "an emoji of several characters",
      "⚠\ufe0f 👩\u200d💻 1\ufe0f\u20e3",
      "⚠\ufe0f 👩\u200d💻 1\ufe0f\u20e3",
    ],
    ["what joins an emoji, and loses it elsewhere", "a\ufe0fb 1\ufe0f c\u200dd", "ab 1 cd"],
  ])("may have %s: nothing is reported", (_, text, plain) => {
    const { tool, said } = clean({ description: text });
    expect(tool.description).toBe(plain);
    expect(said).toEqual([]);
  });

  it("has secrets taken out, and is whole at any length", () => {
    const redact = (text: string): string => text.replaceAll("hunter2", "[REDACTED]");
    const long = "x".repeat(900_000);
    const { tool, said } = clean({ description: `hunter2 ${long}` }, redact);
    expect(tool.description).toBe(`[REDACTED] ${long}`);
    expect(said).toEqual([]);
  });

  it("of nothing but invisible characters becomes empty, in no time", () => {
    const { tool, said } = clean({ description: "\u200b".repeat(500_000) });
    expect(tool.description).toBe("");
    expect(said).toEqual(["invisible characters were removed from its description"]);
  });
});

describe("a title", () => {
  it("is one line of visible characters, wherever it stands", () => {
    const title = `Sea\u200brch\n${"x".repeat(300)}`;
    const { tool, said } = clean({ title, annotations: { title, readOnlyHint: true } });
    expect(tool.title).toBe(`Search ${"x".repeat(300)}`);
    expect(tool.annotations).toEqual({ title: tool.title, readOnlyHint: true });
    expect(said).toEqual(["invisible characters were removed from its title"]);
  });

  it("is cut where it is a label in a list", () => {
    const cleaner = new TextCleaner((text) => text);
    expect(cleaner.title("x".repeat(300), "name", 200)).toBe(`${"x".repeat(199)}…`);
    expect(cleaner.changes()).toEqual(["text was cut in its name"]);
  });
});

describe("a schema", () => {
  it("is the same object if nothing in it is hidden", () => {
    const inputSchema = {
      type: "object",
      properties: { q: { type: "string", description: "What to find", enum: ["a", "b"] } },
      // mongodb-mcp-server has a description of 5231 characters.
      anyOf: [{ title: "One\nand two", description: "x".repeat(5231) }],
    };
    expect(clean({ inputSchema }).tool.inputSchema).toBe(inputSchema);
  });

  it("has its titles and descriptions cleaned at any depth, and nothing else changed", () => {
    const schema = (hidden: string): ToolDefinition["inputSchema"] => ({
      type: "object",
      description: `Top${hidden}`,
      properties: {
        q: { type: "string", title: `Q${hidden}`, description: `What${hidden}` },
        // A property may be called like a keyword.
        default: { description: `Not data${hidden}` },
        description: { type: "string", description: `Of a description${hidden}` },
      },
      anyOf: [{ items: { description: `Item${hidden}` } }],
      required: ["q"],
    });
    const { tool, said } = clean({ inputSchema: schema(TAGS), outputSchema: schema("\u202e") });
    expect(tool.inputSchema).toEqual(schema(""));
    expect(tool.outputSchema).toEqual(schema(""));
    expect(said).toEqual([
      "invisible characters were removed from its inputSchema and outputSchema",
    ]);
  });

  it.each<[string, object]>([
    ["the name of a property", { properties: { [`q${TAGS}`]: {} } }],
    ["a choice", { properties: { q: { enum: ["a", `b${TAGS}`] } } }],
    ["a default", { default: { description: `a${TAGS}` } }],
    ["a key of an example", { examples: [{ [`a${TAGS}`]: 1 }] }],
    ["what is required", { required: [`q${TAGS}`] }],
    ["a comment", { $comment: `a${TAGS}` }],
  ])("keeps invisible characters where they have a meaning, which is reported: %s", (_, part) => {
    const inputSchema = { type: "object", ...part };
    const { tool, said } = clean({ inputSchema });
    expect(tool.inputSchema).toBe(inputSchema);
    expect(said).toEqual([
      "invisible characters are in its inputSchema, where they had to be left",
    ]);
  });

  it("may have keys that mean something to objects", () => {
    const inputSchema = JSON.parse(
      `{"properties":{"__proto__":{"description":"a\u200bb"},"constructor":{"title":"c\u200bd"}}}`,
    ) as ToolDefinition["inputSchema"];
    const { tool } = clean({ inputSchema });
    expect(JSON.stringify(tool.inputSchema)).toBe(
      '{"properties":{"__proto__":{"description":"ab"},"constructor":{"title":"cd"}}}',
    );
    expect(({} as { description?: string }).description).toBeUndefined();
  });
});

describe("a name", () => {
  it("stays as the server wrote it, which is reported", () => {
    const { tool, said } = clean({
      name: "sea\u200brch",
      title: "a\u200b",
      description: "b\u200b",
    });
    expect(tool.name).toBe("sea\u200brch");
    expect(said).toEqual([
      "invisible characters were removed from its title and description",
      "invisible characters are in its name, where they had to be left",
    ]);
  });
});
