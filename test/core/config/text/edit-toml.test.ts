import { describe, expect, it } from "vitest";
import { removeTable, setTable, tomlValueAt } from "../../../../src/core/config/text/edit-toml.ts";

const PATH = ["servers", "ours"];
const TABLE = '[servers.ours]\ncommand = "x"\nargs = ["a", "b\\"c"]\n';
const VALUES = { command: "x", args: ["a", 'b"c'] };

const OTHERS = `# mine
model = "m" # which

[servers.theirs]
args = [
  "[servers.ours]", # no header
]
text = """
[servers.ours]
"""
`;

describe("a table is added at the end, and goes again byte for byte", () => {
  it.each([
    ["an empty text", "", TABLE],
    ["a text", OTHERS, `${OTHERS}\n${TABLE}`],
    ["one without a last line end", 'a = "b"', `a = "b"\n\n${TABLE}`],
    ["one with Windows' line ends", "a = 1\r\n", `a = 1\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}`],
  ])("%s", (_, text, expected) => {
    const added = setTable(text, PATH, VALUES);
    expect(added).toBe(expected);
    expect(tomlValueAt(added, PATH)).toEqual(VALUES);
    const rest = removeTable(added, PATH);
    expect(rest === text || rest === `${text}\n`).toBe(true);
    expect(setTable(added, PATH, VALUES)).toBe(added);
  });

  it("with a map, and keys that need quotes", () => {
    const added = setTable("", ["a", "b c"], { env: { "X Y": "1" } });
    expect(added).toBe('[a."b c"]\nenv = { "X Y" = "1" }\n');
  });
});

describe("a table is removed", () => {
  it("with the tables inside it, and without what follows", () => {
    const more = '[servers.ours.env]\nA = "1"\n';
    const next = '\n# theirs\n[servers.last]\ncommand = "y"\n';
    expect(removeTable(`${OTHERS}\n${TABLE}${more}${next}`, PATH)).toBe(`${OTHERS}${next}`);
  });

  it("or replaced in its place", () => {
    const more = '[servers.ours.env]\nA = "1"\n';
    const next = '\n# theirs\n[servers.last]\ncommand = "y"\n';
    const text = `${OTHERS}\n${TABLE}${more}${next}`;
    expect(setTable(text, PATH, { command: "z" })).toBe(
      `${OTHERS}\n[servers.ours]\ncommand = "z"\n${next}`,
    );
  });

  it("without a change where there is no such table", () => {
    expect(removeTable(OTHERS, PATH)).toBe(OTHERS);
  });

  it.each([
    ["inline", 'servers = { ours = { command = "x" } }\n'],
    ["in dotted keys", '[servers]\nours.command = "x"\n'],
  ])("but not where it is written %s", (_, text) => {
    expect(() => removeTable(text, PATH)).toThrow(/servers\.ours {2}is not written as a table/);
    expect(() => setTable(text, PATH, VALUES)).toThrow(/is not written as a table/);
  });

  it("but not from a text that is no TOML", () => {
    expect(() => removeTable("[", PATH)).toThrow(/is not TOML/);
  });
});
