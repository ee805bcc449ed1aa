// Whether a command prints what the page shows. `…` in a line stands for anything, and alone for any lines.

import { createTwoFilesPatch } from "diff";

/** What no two runs have in common, and the columns of a table that follow from it. */
const VARIABLE: [RegExp, string][] = [
  [/\b\d+(?:\.\d+)? m?s\b/g, "0 ms"],
  [/\b(?<pid>pid\s+)\d+\b/g, "$<pid>0"],
  [/(?<= {2})\d{3,7}(?= {2})/g, "0"],
  [/\b\d{4}-\d\d-\d\d[ T]\d\d:\d[\d:.]*Z?/g, "0000-00-00 00:0"],
  [/(?<=\S) {2,}/g, "  "],
];

function plain(line: string): string {
  return VARIABLE.reduce((text, [pattern, word]) => text.replace(pattern, word), line).trimEnd();
}

/** Undefined if the output is as shown; else both, as a diff. */
export function difference(expected: readonly string[], output: string): string | undefined {
  const actual = output === "" ? [] : output.split("\n");
  if (matches(expected.map(plain), actual.map(plain))) return undefined;
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  const patch = createTwoFilesPatch("", "", text(expected), text(actual), "", "", { context: 100 });
  return patch
    .split("\n")
    .filter((line) => /^[ +-]/.test(line) && !/^(?:---|\+\+\+)/.test(line))
    .join("\n");
}

function matches(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first.trim() === "…") {
    return actual.some((_, at) => matches(rest, actual.slice(at))) || rest.length === 0;
  }
  const [line, ...others] = actual;
  return line !== undefined && matchesLine(first, line) && matches(rest, others);
}

function matchesLine(expected: string, actual: string): boolean {
  if (expected === actual) return true;
  const parts = expected.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return parts.length > 1 && new RegExp(`^${parts.join(".*")}$`).test(actual);
}
