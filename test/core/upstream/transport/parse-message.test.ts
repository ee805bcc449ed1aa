import { describe, expect, it } from "vitest";
import { parseMessage } from "../../../../src/core/upstream/transport/parse-message.ts";

const MEBIBYTE = 1024 ** 2;
const listOf = (values: number): string =>
  JSON.stringify(Array.from({ length: values - 1 }, () => 0));

describe("a message may have", () => {
  it.each([
    [MEBIBYTE, 250_000],
    [64 * MEBIBYTE, 262_144],
    [256 * MEBIBYTE, 1_048_576],
  ])("of at most %d bytes, %d values", (maxBytes, most) => {
    expect(parseMessage(listOf(most), maxBytes)).toHaveLength(most - 1);
    expect(() => parseMessage(listOf(most + 1), maxBytes)).toThrow(
      expect.objectContaining({
        code: "MESSAGE_TOO_LARGE",
        message: `the server sent a message of more than ${most} values`,
      }),
    );
  });

  it("any length, in one text", () => {
    const text = "[,".repeat(10 * MEBIBYTE);
    expect(parseMessage(JSON.stringify({ text }), MEBIBYTE)).toEqual({ text });
  });
});

it("what is not JSON is said so", () => {
  expect(() => parseMessage("{", MEBIBYTE)).toThrow(SyntaxError);
});
