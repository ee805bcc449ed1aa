import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lineReader } from "../lib/lines.mjs";

function read(...chunks) {
  const lines = [];
  const take = lineReader((line) => lines.push(line));
  for (const chunk of chunks) take(Buffer.from(chunk));
  return lines;
}

describe("lineReader", () => {
  const cases = [
    { name: "one line in one chunk", chunks: ["a\n"], lines: ["a"] },
    { name: "several lines in one chunk", chunks: ["a\nb\nc\n"], lines: ["a", "b", "c"] },
    { name: "a line over several chunks", chunks: ["a", "b", "c\n"], lines: ["abc"] },
    {
      name: "the rest of a chunk belongs to the next line",
      chunks: ["a\nb", "c\n"],
      lines: ["a", "bc"],
    },
    { name: "no line without its end", chunks: ["a\nb"], lines: ["a"] },
    { name: "a newline alone in its chunk", chunks: ["a", "\n"], lines: ["a"] },
  ];
  for (const { name, chunks, lines } of cases) {
    it(name, () => assert.deepEqual(read(...chunks), lines));
  }

  it("puts a character together that was cut between chunks", () => {
    const bytes = Buffer.from("ü\n");
    assert.deepEqual(read(bytes.subarray(0, 1), bytes.subarray(1)), ["ü"]);
  });
});
