// Lines of bytes, whoever sends them.

import assert from "node:assert/strict";
import { type Line, LineCutter, LineReader } from "../../../src/util/line-reader.ts";
import { inChunks, type Target } from "../target.ts";

const LONGEST_LINE = 100;

export function lines(): Target {
  return {
    about: "lines of a byte stream, cut in any place",
    covers: ["util/line-reader.ts", "util/held-bytes.ts"],
    seeds: () => [
      "one\ntwo\n",
      "no end",
      "\n\n\r\n",
      "é\n\u{1f600}\n",
      `${"x".repeat(LONGEST_LINE + 1)}\nshort\n`,
      `${"é".repeat(60)}\n`,
    ],
    words: ["\n", "x".repeat(LONGEST_LINE), "\u{1f600}"],
    run(input) {
      const whole = splitAt(input);
      const chunks = inChunks(input);
      assert.deepEqual(
        cut(chunks, false),
        whole.map(toLine),
        "LineCutter gives the lines between the line ends",
      );
      assert.deepEqual(
        cut(chunks, true),
        whole.map(toLine),
        "LineCutter does so with chunks that are overwritten",
      );
      const long = whole.findIndex((line) => line.length > LONGEST_LINE);
      const before = long === -1 ? whole : whole.slice(0, long);
      const expected = before.map((line) => line.toString("utf8")).filter((line) => line !== "");
      for (const areChunksBorrowed of [false, true]) {
        const { read, overflows } = readThrough(chunks, areChunksBorrowed);
        assert.equal(overflows, long === -1 ? 0 : 1, "LineReader ends at a line that is too long");
        // What came in the same chunk as the long line may be lost with it.
        assert.deepEqual(
          read,
          expected.slice(0, long === -1 ? undefined : read.length),
          "LineReader gives the text of the lines",
        );
      }
    },
  };
}

function splitAt(input: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let start = 0;
  for (let at = input.indexOf(10); at !== -1; at = input.indexOf(10, start)) {
    found.push(input.subarray(start, at));
    start = at + 1;
  }
  return start < input.length ? [...found, input.subarray(start)] : found;
}

function toLine(bytes: Buffer): string {
  return bytes.length > LONGEST_LINE ? "too long" : bytes.toString("hex");
}

function cut(chunks: readonly Buffer[], areChunksBorrowed: boolean): string[] {
  const cutter = new LineCutter({ maxBytes: LONGEST_LINE, areChunksBorrowed });
  const found: string[] = [];
  const take = (line: Line): void => {
    found.push(line.kind === "too-long" ? "too long" : line.bytes.toString("hex"));
  };
  for (const chunk of chunks)
    lend(chunk, areChunksBorrowed, (each) => [...cutter.push(each)].forEach(take));
  [...cutter.end()].forEach(take);
  return found;
}

function readThrough(
  chunks: readonly Buffer[],
  areChunksBorrowed: boolean,
): { read: string[]; overflows: number } {
  const read: string[] = [];
  let overflows = 0;
  const reader = new LineReader({
    maxBytes: LONGEST_LINE,
    areChunksBorrowed,
    onLine: (line) => void read.push(line),
    onOverflow: () => void (overflows += 1),
  });
  for (const chunk of chunks) lend(chunk, areChunksBorrowed, (each) => reader.push(each));
  reader.end();
  return { read, overflows };
}

/** A lent chunk is overwritten afterwards. */
function lend(chunk: Buffer, isBorrowed: boolean, take: (chunk: Buffer) => void): void {
  const lent = Buffer.from(chunk);
  take(lent);
  if (isBorrowed) lent.fill(0x7e);
}
