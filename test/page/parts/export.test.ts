import { expect, it } from "vitest";
import { csv } from "../../../src/page/parts/export.ts";

it.each([
  ["plain", "plain"],
  ['a "b", c', '"a ""b"", c"'],
  ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  // Trimmed before they are read, or read as their plain forms.
  [" =1", "' =1"],
  ["\u00A0=1", "'\u00A0=1"],
  ["\uFF1D1", "'\uFF1D1"],
  ["\n=1", "\"'\n'=1\""],
  // A cell of its own where semicolons or tabs are expected.
  ["a;=1", "a;'=1"],
  ["a\t=1", "a\t'=1"],
  ['a;"=1"', '"a;\'""=1"""'],
  ["a=1; b-2", "a=1; b-2"],
])("no spreadsheet takes %j for a formula", (text, cell) => {
  expect(csv(["column"], [["first", text]])).toBe(`column\r\nfirst,${cell}\r\n`);
});
