import { describe, expect, it } from "vitest";
import { LineReader } from "../../src/util/line-reader.ts";

interface Read {
  lines: string[];
  overflows: number[];
}

function read(chunks: Iterable<Buffer | string>, maxBytes = 1 << 20): Read {
  const lines: string[] = [];
  const overflows: number[] = [];
  const reader = new LineReader({
    maxBytes,
    onLine: (line) => lines.push(line),
    onOverflow: (bytes) => overflows.push(bytes),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return { lines, overflows };
}

/** Every way to cut `bytes` into chunks: bit n of the number says whether to cut after byte n. */
function* everyCut(bytes: Buffer): Generator<Buffer[]> {
  for (let cuts = 0; cuts < 2 ** (bytes.length - 1); cuts += 1) {
    const chunks: Buffer[] = [];
    let from = 0;
    for (let at = 1; at < bytes.length; at += 1) {
      if ((cuts & (1 << (at - 1))) === 0) continue;
      chunks.push(bytes.subarray(from, at));
      from = at;
    }
    chunks.push(bytes.subarray(from));
    yield chunks;
  }
}

/** Runs `work` and counts the bytes it copies and the bytes it sets aside for lines to come. */
function countWork(work: () => void): { copied: number; reserved: number } {
  const { copy } = Buffer.prototype;
  // oxlint-disable-next-line typescript/unbound-method -- put back as they were
  const { concat, allocUnsafeSlow } = Buffer;
  const counted = { copied: 0, reserved: 0 };
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<Buffer["copy"]>) {
    const bytes = copy.apply(this, args);
    counted.copied += bytes;
    return bytes;
  };
  Buffer.concat = (list, length) => {
    const joined = concat(list, length);
    counted.copied += joined.length;
    return joined;
  };
  Buffer.allocUnsafeSlow = (size) => {
    counted.reserved += size;
    return allocUnsafeSlow(size);
  };
  try {
    work();
  } finally {
    Buffer.prototype.copy = copy;
    Object.assign(Buffer, { concat, allocUnsafeSlow });
  }
  return counted;
}

describe("LineReader", () => {
  it.each([
    ["one line", ["a\n"], ["a"]],
    ["several in one chunk", ["a\nb\nc\n"], ["a", "b", "c"]],
    ["one over several chunks", ["a", "b", "c\n"], ["abc"]],
    ["the end of one and all of others", ["a", "b\nc\nd\ne"], ["ab", "c", "d", "e"]],
    ["a newline that comes alone", ["a", "\n", "b", "\n"], ["a", "b"]],
    ["no newline at the end", ["a\nb"], ["a", "b"]],
    ["empty lines, which it skips", ["\n\na\n\n", "\n", "b\n"], ["a", "b"]],
    ["empty chunks", ["", "a", "", "\n", ""], ["a"]],
    ["nothing at all", [], []],
    ["a carriage return, which JSON takes for a space", ["{}\r\n"], ["{}\r"]],
    ["bytes that are no UTF-8", [Buffer.from([0x61, 0xff, 0x0a])], ["a\ufffd"]],
  ])("reads %s", (_, chunks, lines) => {
    expect(read(chunks)).toEqual({ lines, overflows: [] });
  });

  it.each([
    ["é\n😀\n\nab", ["é", "😀", "ab"]],
    ["日\nx\ny\né\n", ["日", "x", "y", "é"]],
  ])("reads %j the same however it is cut", (text, lines) => {
    for (const chunks of everyCut(Buffer.from(text))) {
      expect(read(chunks), chunks.map((chunk) => chunk.toString("hex")).join(" ")).toEqual({
        lines,
        overflows: [],
      });
    }
  });

  it("emits nothing after its end", () => {
    const lines: string[] = [];
    const reader = new LineReader({
      maxBytes: 100,
      onLine: (line) => lines.push(line),
      onOverflow: () => {},
    });
    reader.push(Buffer.from("rest"));
    reader.end();
    reader.push(Buffer.from("more\n"));
    reader.end();
    expect(lines).toEqual(["rest"]);
  });
});

describe("a line that is too long", () => {
  const fits = "x".repeat(10);
  const tooLong = "x".repeat(11);

  it.each([
    ["in one chunk", [`${fits}\n`]],
    ["behind empty lines", [`\n\n\n${fits}\n`]],
    ["over two chunks", ["x".repeat(4), `${"x".repeat(6)}\n`]],
    ["without a newline", [fits]],
    ["with the newline alone", [fits, "\n"]],
  ])("is not one of exactly the limit, %s", (_, chunks) => {
    expect(read(chunks, 10)).toEqual({ lines: [fits], overflows: [] });
  });

  it("is not many short ones that exceed the limit together", () => {
    const lines = ["aaaa", "bbbb", "cccc", "dddd"];
    expect(read([`${lines.join("\n")}\n`], 10)).toEqual({ lines, overflows: [] });
  });

  it.each([
    ["whole in one chunk", [`${tooLong}\n`]],
    ["first of several", [`${tooLong}\na\n`]],
    ["last of several", [`a\n${tooLong}\n`]],
    ["between others", [`a\n${tooLong}\nb\n`]],
    ["begun in the chunk before", ["x".repeat(8), "xxx\na\n"]],
    ["begun behind others", ["a\nxxxxxxxx", "xxx"]],
    ["unfinished in one chunk", [tooLong]],
    ["unfinished in many", Array.from(tooLong)],
  ])("ends the reading, once: %s", (_, chunks) => {
    const { lines, overflows } = read([...chunks, "\nafter\n"], 10);
    expect(overflows).toEqual([11]);
    expect(lines.filter((line) => line !== "a")).toEqual([]);
  });
});

describe("the cost of a line", () => {
  const SIZE = 1 << 20;
  const byte = Buffer.from("x");

  it("is linear when it comes byte by byte", () => {
    const lines: number[] = [];
    const reader = new LineReader({
      maxBytes: SIZE,
      onLine: (line) => lines.push(line.length),
      onOverflow: () => {},
    });
    const { copied, reserved } = countWork(() => {
      for (let sent = 0; sent < SIZE; sent += 1) reader.push(byte);
      reader.push(Buffer.from("\n"));
    });
    expect(lines).toEqual([SIZE]);
    // Once to store each byte and once to join the line.
    expect(copied).toBeLessThanOrEqual(2 * SIZE);
    expect(reserved).toBeLessThanOrEqual(SIZE);
  });

  it("is bounded by the limit however much comes", () => {
    const overflows: number[] = [];
    const reader = new LineReader({
      maxBytes: 100_000,
      onLine: () => {},
      onOverflow: (bytes) => overflows.push(bytes),
    });
    const chunk = Buffer.alloc(1000, "x");
    const { copied, reserved } = countWork(() => {
      for (let sent = 0; sent < SIZE; sent += chunk.length) reader.push(chunk);
    });
    expect(overflows).toEqual([101_000]);
    // All but the first chunk, which is kept as it is.
    expect(copied).toBe(99_000);
    expect(reserved).toBe(2 * 64 * 1024);
  });

  it("is nothing but its text when it comes in one chunk", () => {
    const { copied, reserved } = countWork(() => read([Buffer.alloc(SIZE, "x\n")]));
    expect({ copied, reserved }).toEqual({ copied: 0, reserved: 0 });
  });
});
