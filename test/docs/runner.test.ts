// The tests of the pages notice what they are meant to notice.

import { describe, expect, it } from "vitest";
import { commandsIn, rewritten, typedIn } from "./commands.ts";
import { difference } from "./compare.ts";
import { readPage } from "./page.ts";
import { kindOf } from "./programs.ts";

function pageWith(...lines: string[]) {
  return readPage("docs/x.md", lines.join("\n"));
}

describe("a page", () => {
  it("has blocks with their directives, links and anchors", () => {
    const page = pageWith(
      "# One `word` & more",
      "A [link](y.md#z), `not [a](link.md)` and [two](https://example.com).",
      '<!-- test: home=broken, exit=2, not-run="no, really" -->',
      "```console",
      "$ plugboard",
      "[not](a-link.md)",
      "```",
      "# One word & more",
    );
    expect(page.blocks).toEqual([
      {
        language: "console",
        line: 4,
        lines: ["$ plugboard", "[not](a-link.md)"],
        directive: { home: "broken", exit: "2", "not-run": "no, really" },
      },
    ]);
    expect(page.links.map(({ target }) => target)).toEqual(["y.md#z", "https://example.com"]);
    expect([...page.anchors]).toEqual(["one-word--more", "one-word--more-1"]);
  });

  it.each([
    ["a directive that means nothing", ["<!-- test: exitt=2 -->", "```sh", "```"], 'has "exitt"'],
    ["a directive before no block", ["<!-- test: exit=2 -->", "words"], "not followed by a block"],
    ["a block without an end", ["```sh"], "never closed"],
  ])("refuses %s", (_, lines, message) => {
    expect(() => pageWith(...lines)).toThrow(message);
  });
});

describe("commands", () => {
  const block = {
    language: "console",
    line: 10,
    lines: ["$ plugboard a \\", "    b", "one", "", "$ plugboard c", "Do it? [y/N] y"],
    directive: {},
  };

  it("of a console block have what they print", () => {
    expect(commandsIn(block)).toEqual([
      { text: "plugboard a \\\n    b", line: 11, expected: ["one"] },
      { text: "plugboard c", line: 15, expected: ["Do it? [y/N] y"] },
    ]);
    expect(typedIn(["Do it? [y/N] y"])).toEqual(["y"]);
  });

  it("of a console block are rewritten with what they print", () => {
    expect(rewritten(block, commandsIn(block), ["uno\ndos", ""])).toEqual([
      "$ plugboard a \\",
      "    b",
      "uno",
      "dos",
      "",
      "$ plugboard c",
    ]);
  });

  it("of a block of commands alone have no comments", () => {
    const lines = ["# first", "plugboard a  # the first", "", "plugboard b"];
    expect(commandsIn({ ...block, language: "sh", lines })).toEqual([
      { text: "plugboard a  # the first", line: 12 },
      { text: "plugboard b", line: 14 },
    ]);
  });

  it.each([
    ["plugboard call x 'a | b' \"$X\"  # a; b", "plugboard"],
    ["DOCS_KEY=x plugboard", "plugboard"],
    ["npx plugboard tools", "plugboard"],
    ["plugboard types > tools.d.ts", "shell"],
    ['export TOKEN="$(cat token)"', "shell"],
    ["npx -y something", "not-run"],
    ["printf %s x | vault write", "not-run"],
  ])("%s: %s", (command, kind) => {
    expect(kindOf(command).kind).toBe(kind);
  });

  it("of programs that nobody has decided about are refused", () => {
    expect(() => kindOf("frobnicate now")).toThrow('"frobnicate"');
  });
});

describe("what is shown and what is printed", () => {
  it.each<[string, string[], string, boolean]>([
    ["are the same", ["a", "b"], "a\nb", true],
    ["differ in a line", ["a", "b"], "a\nc", false],
    ["differ in a line that is missing", ["a", "b"], "a", false],
    ["differ in a line too many", ["a"], "a\nb", false],
    ["may have anything where a line has …", ["a … c"], "a b c", true],
    ["may differ only there", ["a … c"], "a b d", false],
    ["may have any lines at …", ["a", "…", "d"], "a\nb\nc\nd", true],
    ["may have no lines at …", ["a", "…"], "a", true],
    ["must go on after …", ["a", "…", "d"], "a\nb", false],
    ["may differ in times and the columns after them", ["x  12 ms  y"], "x  1.3 s     y", true],
    ["may differ in a pid of a table", ["x  12345  y"], "x  678  y", true],
    ["may differ in dates", ["2026-01-02 03:04:05"], "2027-11-12 13:14:15", true],
    ["differ in other numbers", ["3 tools"], "4 tools", false],
    ["differ in their indentation", ["  a"], "a", false],
  ])("%s", (_, expected, output, isSame) => {
    expect(difference(expected, output) === undefined).toBe(isSame);
  });

  it("are shown as a diff", () => {
    expect(difference(["a", "b"], "a\nc")).toBe(" a\n-b\n+c");
  });
});
