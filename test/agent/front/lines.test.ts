import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { LineWriter, readLines } from "../../../src/agent/front/lines.ts";

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
