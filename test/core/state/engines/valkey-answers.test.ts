import { describe, expect, it } from "vitest";
import { AnswerMeter } from "../../../../src/core/state/engines/valkey-answers.ts";

/** However the bytes are cut, it says the same. */
function said(answer: string): (string | undefined)[] {
  const bytes = Buffer.from(answer);
  return [bytes.length, 1, 3].map((least) => {
    const size = Math.max(least, bytes.length >> 12);
    const meter = new AnswerMeter();
    for (let at = 0; at < bytes.length; at += size) {
      const fault = meter.take(bytes.subarray(at, at + size));
      if (fault !== undefined) return fault;
    }
    return undefined;
  });
}

describe("an answer of Valkey", () => {
  it.each([
    [
      "numbers, texts, errors and nothing",
      ":1\r\n:-2\r\n+OK\r\n-ERR no\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n",
    ],
    ["a text that looks like lists", "$9\r\n*1\r\n*1\r\n*\r\n".repeat(100)],
    ["lists in lists", "*2\r\n*2\r\n:1\r\n$2\r\nab\r\n*1\r\n+x\r\n".repeat(1000)],
    ["many answers, large together", `$100000\r\n${"x".repeat(100_000)}\r\n`.repeat(20)],
    ["one that is as deep as it may be", `${"*1\r\n".repeat(16)}:1\r\n`.repeat(2)],
  ])("may be %s", (_, answer) => {
    expect(said(answer)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ["lists in each other", `${"*1\r\n".repeat(17)}:1\r\n`, "its answer is nested too deeply"],
    [
      "lists after others",
      `*3\r\n:1\r\n${"*2\r\n:1\r\n".repeat(17)}`,
      "its answer is nested too deeply",
    ],
    ["a long list", "*1048577\r\n", "its answer is too large"],
    ["a long text", "$16777217\r\n", "its answer is too large"],
    [
      "texts that are long together",
      `*3\r\n${`$9000000\r\n${"x".repeat(9_000_000)}\r\n`.repeat(2)}`,
      "its answer is too large",
    ],
    ["a length that is none", "$1x\r\n", "it does not speak Valkey's protocol"],
    [
      "lists in each other, with a sign in their lengths",
      `${"*1-0\r\n".repeat(3000)}:1\r\n`,
      "it does not speak Valkey's protocol",
    ],
    ["another type", "%1\r\n", "it does not speak Valkey's protocol"],
    ["another protocol", "HTTP/1.1 200 OK\r\n", "it does not speak Valkey's protocol"],
  ])("may not be %s", (_, answer, fault) => {
    expect(said(answer)).toEqual([fault, fault, fault]);
  });
});
