import { describe, expect, it } from "vitest";
import { painter } from "../../../src/cli/terminal/terminal.ts";
import { type Column, renderTable, type Row } from "../../../src/cli/terminal/table.ts";

const paint = painter(false);

const columns: readonly Column[] = [
  { title: "name", min: 4 },
  { title: "count", align: "right" },
  { title: "about", min: 6 },
];

const rows: readonly Row[] = [
  { cells: ["github", "12", "Issues and pull requests"] },
  { cells: ["日本語", "3", "short"] },
];

describe("a table", () => {
  it("shows everything where no width is given", () => {
    expect(renderTable(columns, rows, { paint })).toEqual([
      "name    count  about",
      "github     12  Issues and pull requests",
      "日本語      3  short",
    ]);
  });

  it("cuts the column with the most slack until the row fits", () => {
    expect(renderTable(columns, rows, { paint, width: 28 })).toEqual([
      "name    count  about",
      "github     12  Issues and p…",
      "日本語      3  short",
    ]);
  });

  it("cuts the next column when the first has reached its minimum", () => {
    expect(renderTable(columns, rows, { paint, width: 19 })).toEqual([
      "name  count  about",
      "git…     12  Issue…",
      "日…       3  short",
    ]);
  });

  it("leaves out columns on the right if even the minimum widths do not fit", () => {
    expect(renderTable(columns, rows, { paint, width: 12 })).toEqual([
      "name   count",
      "gith…     12",
      "日本…      3",
    ]);
  });

  it("leaves out other columns before one that stays", () => {
    const who = [...columns, { title: "who", stays: true }];
    const named = rows.map(({ cells }, at) => ({ cells: [...cells, at === 0 ? "anna" : "bo"] }));
    expect(renderTable(who, named, { paint, width: 20 })).toEqual([
      "name    count  who",
      "github     12  anna",
      "日本語      3  bo",
    ]);
  });

  it("leaves out empty columns", () => {
    const empty = [{ cells: ["a", "", "b"] }];
    expect(renderTable(columns, empty, { paint })).toEqual(["name  about", "a     b"]);
  });

  it("prints no title line without titles", () => {
    expect(renderTable([{}, {}], [{ cells: ["a", "b"] }], { paint })).toEqual(["a  b"]);
  });

  it("wraps a column with overflow: wrap", () => {
    const wrapping: Column[] = [{}, { min: 8, overflow: "wrap" }];
    expect(
      renderTable(wrapping, [{ cells: ["key", "several words in a row"] }], { paint, width: 15 }),
    ).toEqual(["key  several", "     words in a", "     row"]);
  });

  it("puts notes below their row, wrapped and indented", () => {
    const noted = [{ cells: ["a", "1", "b"], notes: ["something went wrong here today"] }];
    expect(renderTable(columns, noted, { paint, width: 26 })).toEqual([
      "name  count  about",
      "a         1  b",
      "    something went wrong",
      "    here today",
    ]);
  });

  it("indents every line", () => {
    const command = { cells: ["a"], notes: [`  plugboard ${"x".repeat(60)} y`] };
    expect(renderTable([{}], [command], { paint, width: 30 })[1]).toBe(`    ${command.notes[0]}`);
    expect(renderTable([{}], [{ cells: ["a"], notes: ["n"] }], { paint, indent: 2 })).toEqual([
      "  a",
      "      n",
    ]);
  });

  it("keeps a cell on one line and strips what would move the cursor", () => {
    const hostile = [{ cells: ["a\nb\u001b[2Jc\u202e", "x"] }];
    expect(renderTable([{}, {}], hostile, { paint })).toEqual(["a bc  x"]);
  });

  it("colours the text of a cell but not its padding", () => {
    const colored = [
      { cells: [{ text: "no", tone: "red" as const }, "x"] },
      { cells: ["long", "y"] },
    ];
    expect(renderTable([{}, {}], colored, { paint: painter(true) })).toEqual([
      "\u001b[31mno\u001b[39m    x",
      "long  y",
    ]);
  });

  it("prints nothing without rows", () => {
    expect(renderTable(columns, [], { paint })).toEqual([]);
  });
});
