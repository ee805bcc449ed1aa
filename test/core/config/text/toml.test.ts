import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseToml } from "../../../../src/core/config/text/toml.ts";

function documentOf(text: string) {
  const parsed = parseToml(text);
  if (parsed.kind === "document") return parsed;
  throw new Error(parsed.message);
}

/** "line:column" of what a path leads to. */
function placeOf(text: string, path: (string | number)[]): string {
  const { line, column } = documentOf(text).locate({ path, at: "value", message: "" });
  return `${line}:${column}`;
}

const TEXT = `# a comment with [a.table] and = in it
top = "a # b"   # another
dotted."key = 1".x = [
  "one", # two ]
  '''three ]
[not.a.table]
''',
]
long = """
[also.not] = "\\""""" # ends in two quotes

  [ table . "with a.dot" ]
  inner = { a = 1, "b}" = ["]"] }
last = 'its'
`;

describe("a TOML text", () => {
  it("becomes a plain value", () => {
    expect(documentOf("[a.b]\nc = [1, 'x']\nd = true\n").value).toEqual({
      a: { b: { c: [1, "x"], d: true } },
    });
  });

  it.each<[(string | number)[], string]>([
    [["top"], "2:1"],
    [["dotted"], "3:1"],
    [["dotted", "key = 1", "x"], "3:1"],
    [["dotted", "key = 1", "x", 1], "3:1"],
    [["long"], "9:1"],
    [["table", "with a.dot"], "12:5"],
    [["table", "with a.dot", "inner"], "13:3"],
    [["table", "with a.dot", "inner", "a"], "13:3"],
    [["table", "with a.dot", "last"], "14:1"],
    [["table", "with a.dot", "missing"], "12:5"],
    [["missing"], "1:1"],
    [[], "1:1"],
  ])("has the position of %j", (path, expected) => {
    expect(placeOf(TEXT, path)).toBe(expected);
  });

  it("has the positions of tables in a list", () => {
    const text = "[[a]]\nx = 1\n[[a]]\nx = 2\n[[a.b]]\ny = 1\n[a.b.c]\nz = 1\n";
    expect(placeOf(text, ["a", 0, "x"])).toBe("2:1");
    expect(placeOf(text, ["a", 1, "x"])).toBe("4:1");
    expect(placeOf(text, ["a", 1, "b", 0, "y"])).toBe("6:1");
    expect(placeOf(text, ["a", 1, "b", 0, "c", "z"])).toBe("8:1");
  });

  it.each([
    ["a = ", 1],
    ["\n[a\n", 2],
    ["a = 1\na = 2\n", 2],
    ["a = 99999999999999999999\n", 1],
  ])("that is malformed is told with its line: %j", (text, line) => {
    expect(parseToml(text)).toMatchObject({
      kind: "malformed",
      position: { line },
      message: expect.stringMatching(/^is not TOML: [a-z]/) as string,
    });
  });

  it("of any other kind never throws", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from("[]{}=\"'#.a\n \\")) }),
        (text) => {
          const parsed = parseToml(text);
          if (parsed.kind === "document") {
            expect(parsed.locate({ path: ["a"], at: "key", message: "" }).line).toBeGreaterThan(0);
          }
        },
      ),
    );
  });
});

describe("a key with more dots than anybody writes", () => {
  it.each([`a${".a".repeat(100_000)} = 1`, `[a${".a".repeat(100_000)}]`])("is refused", (text) => {
    expect(parseToml(text)).toMatchObject({
      kind: "malformed",
      message: "is nested too deeply to be read",
    });
  });
});
