import { describe, expect, it } from "vitest";
import { type Line, LineCutter } from "../../src/util/line-reader.ts";

function cut(text: string | Buffer, size: number, maxBytes = 100): string[] {
  const bytes = Buffer.from(text);
  const cutter = new LineCutter({ maxBytes, areChunksBorrowed: true });
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    for (const line of cutter.push(chunk)) {
      lines.push(line.kind === "line" ? { ...line, bytes: Buffer.from(line.bytes) } : line);
    }
    // As whoever lends it may do.
    chunk.fill(0x21);
  }
  lines.push(...cutter.end());
  return lines.map((line) =>
    line.kind === "line" ? line.bytes.toString("latin1") : `>${line.head}`,
  );
}

describe("lines are cut at newlines alone, whatever the chunks", () => {
  const invalid = Buffer.from([0x7b, 0xff, 0xfe, 0x0a, 0x7d]);
  it.each<[text: string | Buffer, lines: string[]]>([
    ["", []],
    ["a\nb\n", ["a", "b"]],
    ["a\n\n b \r\nc", ["a", "", " b \r", "c"]],
    [invalid, ["{\xff\xfe", "}"]],
    [`${"x".repeat(100)}\n`, ["x".repeat(100)]],
    [`${"x".repeat(101)}\nok\n`, [`>${"x".repeat(101)}`, "ok"]],
    [`ok\n${"y".repeat(2000)}`, ["ok", `>${"y".repeat(1024)}`]],
  ])("%j", (text, lines) => {
    for (const size of [1, 2, 7, 5000]) {
      const shown = cut(text, size).map((line) => line.slice(0, 1025));
      expect(shown.map((line) => line.replace(/^(>.{100}).*$/, "$1"))).toEqual(
        lines.map((line) => line.replace(/^(>.{100}).*$/, "$1")),
      );
    }
  });

  it("of a line without end, only its beginning is kept", () => {
    const cutter = new LineCutter({ maxBytes: 1000 });
    for (let n = 0; n < 500; n += 1)
      expect([...cutter.push(Buffer.alloc(64 * 1024, 0x61))]).toEqual([]);
    expect([...cutter.push(Buffer.from("\n"))]).toEqual([
      { kind: "too-long", head: "a".repeat(1024) },
    ]);
  });
});

it("a cutter knows whether it is in a line, and can forget it", () => {
  const cutter = new LineCutter({ maxBytes: 3 });
  const states = ["a\n", "b", "cdef"].map((text) => {
    const lines = [...cutter.push(Buffer.from(text))];
    return [lines.length, cutter.isInLine];
  });
  expect(states).toEqual([
    [1, false],
    [0, true],
    [0, true],
  ]);
  cutter.drop();
  expect(cutter.isInLine).toBe(false);
  expect([...cutter.push(Buffer.from("g\n"))]).toEqual([{ kind: "line", bytes: Buffer.from("g") }]);
});
