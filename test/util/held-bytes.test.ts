import { describe, expect, it } from "vitest";
import { HeldBytes } from "../../src/util/held-bytes.ts";

const KIB = 1024;
/** Sizes around the limit for keeping a chunk as it is, and around the size of a block. */
const SIZES = [1, 7, 100, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB, 64 * KIB + 1, 200 * KIB];

/** Bytes in which every place can be told from its neighbours, with characters across every border. */
function sample(bytes: number): Buffer {
  return Buffer.from("aé日😀".repeat(Math.ceil(bytes / 10))).subarray(0, bytes);
}

function hold(held: HeldBytes, bytes: Buffer, sizes: readonly number[]): void {
  let from = 0;
  for (let turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    held.push(bytes.subarray(from, from + size));
    from += size;
  }
}

describe("HeldBytes", () => {
  const bytes = sample(300 * KIB);
  const pairs = SIZES.flatMap((one) => SIZES.map((other) => [one, other] as const));

  it.each(pairs)("puts chunks of %d and %d bytes in turn together", (one, other) => {
    const held = new HeldBytes();
    hold(held, bytes, [one, other]);
    expect(held.length).toBe(bytes.length);
    expect(held.take() === bytes.toString()).toBe(true);
    expect(held.length).toBe(0);
  });

  it.each(pairs)("keeps borrowed chunks of %d and %d bytes", (one, other) => {
    const held = new HeldBytes({ areBorrowed: true });
    const buffer = Buffer.alloc(Math.max(one, other));
    for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
      const copied = bytes.copy(buffer, 0, from, from + (turn % 2 === 0 ? one : other));
      held.push(buffer.subarray(0, copied));
      from += copied;
    }
    buffer.fill(0);
    expect(held.take() === bytes.toString()).toBe(true);
  });

  it.each([
    ["one by one", 1, 3],
    ["all at once", 100 * KIB, 1],
    ["in small chunks", 1000, 3],
  ])("is in few pieces, also of bytes that come %s", (_, size, most) => {
    const held = new HeldBytes();
    const some = bytes.subarray(0, 100 * KIB);
    for (let time = 0; time < 2; time += 1) {
      hold(held, some, [size]);
      const pieces = held.takePieces();
      expect(pieces.length).toBeLessThanOrEqual(most);
      // What comes next is not written over them.
      hold(held, Buffer.alloc(100 * KIB), [size]);
      expect(Buffer.concat(pieces).equals(some)).toBe(true);
      held.drop();
    }
  });

  it("starts from nothing after each line", () => {
    const held = new HeldBytes();
    expect(held.take()).toBe("");
    for (const size of [...SIZES, ...SIZES.toReversed()]) {
      const line = sample(size);
      hold(held, line, [30_000, 5]);
      expect(held.length).toBe(size);
      expect(held.take() === line.toString()).toBe(true);
    }
    expect(held.take()).toBe("");
  });

  it("forgets what it is told to drop", () => {
    const held = new HeldBytes();
    hold(held, bytes, [3, 20 * KIB]);
    held.drop();
    expect(held.length).toBe(0);
    held.push(Buffer.from("next"));
    expect(held.take()).toBe("next");
  });
});
