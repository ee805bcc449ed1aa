import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type Line, LineCutter, LineWriter, readLines } from "../../../src/agent/front/lines.ts";

function cut(text: string | Buffer, size: number, maxBytes = 100): string[] {
  const bytes = Buffer.from(text);
  const cutter = new LineCutter(maxBytes);
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    // Each chunk is overwritten later, as a pool of buffers may be.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    lines.push(...cutter.push(chunk));
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
    const cutter = new LineCutter(1000);
    for (let n = 0; n < 500; n += 1)
      expect([...cutter.push(Buffer.alloc(64 * 1024, 0x61))]).toEqual([]);
    expect([...cutter.push(Buffer.from("\n"))]).toEqual([
      { kind: "too-long", head: "a".repeat(1024) },
    ]);
  });
});

it("reading waits until a line was taken", async () => {
  const input = new PassThrough();
  const taken: string[] = [];
  let go = (): void => {};
  const done = readLines(input, 100, (line) => {
    taken.push(line.kind === "line" ? line.bytes.toString() : "too long");
    return taken.length === 1 ? new Promise((resolve) => (go = resolve)) : undefined;
  });
  input.end("one\ntwo\n");
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toEqual(["one"]);
  go();
  await done;
  expect(taken).toEqual(["one", "two"]);
});

describe("a writer", () => {
  const pending: ((error?: Error) => void)[] = [];
  const write = (_: unknown, done: (error?: Error) => void): boolean => {
    pending.push(done);
    return true;
  };

  it("has no room while the other side has not read a megabyte", async () => {
    const writer = new LineWriter(write as never, () => {});
    writer.send(Buffer.alloc(1 << 20));
    const room = writer.room();
    expect(room).toBeInstanceOf(Promise);
    pending.shift()?.();
    await room;
    expect(writer.room()).toBeUndefined();
  });

  it("tells once that nobody reads any more, and holds nobody up then", async () => {
    let gone = 0;
    const writer = new LineWriter(write as never, () => (gone += 1));
    writer.send(Buffer.alloc(1 << 20));
    writer.send(Buffer.alloc(1 << 20));
    const room = writer.room();
    for (const done of pending.splice(0)) done(new Error("EPIPE"));
    await room;
    writer.send(Buffer.from("more"));
    expect([gone, pending.length, writer.room()]).toEqual([1, 0, undefined]);
  });
});
