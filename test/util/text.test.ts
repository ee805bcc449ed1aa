import { describe, expect, it } from "vitest";
import {
  asText,
  byteSize,
  duration,
  excerpt,
  oneLine,
  plainText,
  plural,
  shellQuoted,
  truncate,
} from "../../src/util/text.ts";

describe("plainText", () => {
  it.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["cursor movement", "a\u001b[2J\u001b[10;20Hb", "ab"],
    ["a window title ended by BEL", "\u001b]0;owned\u0007text", "text"],
    ["a hyperlink ended by ST", "\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["a device control string", "\u001bP1$r0m\u001b\\text", "text"],
    ["a private message", "\u001b^secret\u001b\\text", "text"],
    ["an application command", "\u001b_G...\u001b\\text", "text"],
    ["a start of string", "\u001bXhidden\u001b\\text", "text"],
    ["an escape with an intermediate character", "\u001b(Btext", "text"],
    ["a two-character escape", "\u001bctext", "text"],
    ["a string that never ends", "text\u001b]0;rest", "text"],
    ["an escape at the very end", "text\u001b", "text"],
    ["an unfinished sequence", "text\u001b[31", "text"],
    ["an escape made of the rest of another", "\u001b\u001b[31mtext", "text"],
    ["the one-byte CSI", "\u009b31mtext", "text"],
    ["other C1 controls", "te\u0085xt\u009d", "text"],
    ["NUL, BEL, backspace, carriage return, DEL", "t\u0000e\u0007x\bt\r\u007f", "text"],
    ["bidirectional overrides", "user\u202etxt.exe\u202c \u2066x\u2069", "usertxt.exe x"],
    ["zero-width characters", "in\u200bvis\u200dible\ufeff", "invisible"],
    ["tag characters", `tag${String.fromCodePoint(0xe0041, 0xe0042, 0xe007f)}ged`, "tagged"],
    ["variation selectors", `a\ufe0fb${String.fromCodePoint(0xe0100)}c`, "abc"],
    ["line and paragraph separators", "a\u2028b\u2029c", "abc"],
  ])("drops %s", (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it.each(["tabs\tand\nnewlines", "ümlaut, 日本語, 😀", "[31m is plain without its escape", ""])(
    "keeps %j",
    (text) => {
      expect(plainText(text)).toBe(text);
    },
  );

  it.each([
    ["escapes without an end", "\u001b["],
    ["strings without an end", "\u001b]0;"],
    ["parameters without an end", "\u001b[0;"],
    ["escapes alone", "\u001b"],
  ])("takes linear time for a megabyte of %s", (_, piece) => {
    expect(plainText(piece.repeat(1_000_000 / piece.length))).toBe("");
  });
});

describe("oneLine", () => {
  it.each([
    ["  two\n\n  lines\t", Infinity, "two lines"],
    ["\u001b[31mred\u001b[0m\r\nalert", Infinity, "red alert"],
    ["short", 5, "short"],
    ["longer", 5, "long…"],
    ["", 5, ""],
  ])("makes %j, at most %d characters, into %j", (text, max, line) => {
    expect(oneLine(text, max)).toBe(line);
  });

  it("looks at the beginning of a hostile text only", () => {
    expect(oneLine("x".repeat(10_000_000), 10)).toBe("xxxxxxxxx…");
    expect(oneLine(`${"\u200b".repeat(1_000)}visible`, 10)).toBe("visible");
    expect(oneLine(`${"\u200b".repeat(1_000_000)}too far`, 10)).toBe("");
  });
});

describe("truncate", () => {
  it.each([
    ["four", 4, "four"],
    ["fives", 4, "fiv…"],
    ["ab😀cd", 4, "ab…"],
    ["ab😀cd", 5, "ab😀…"],
    ["😀😀", 2, "…"],
    ["a\u{10000}bc", 3, "a…"],
    ["a\u{10ffff}bc", 3, "a…"],
    ["ab", 1, "…"],
    ["ab", 0, "…"],
  ])("cuts %j at %d to %j", (text, max, cut) => {
    expect(truncate(text, max)).toBe(cut);
  });
});

describe("plural", () => {
  it.each([
    [0, "0 lines"],
    [1, "1 line"],
    [2, "2 lines"],
  ])("says %d as %s", (count, text) => {
    expect(plural(count, "line")).toBe(text);
  });
});

describe("duration", () => {
  it.each([
    [0, "0 ms"],
    [0.4, "0 ms"],
    [349.6, "350 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [1500, "1.5 s"],
    [9_900, "9.9 s"],
    [30_000, "30 s"],
    [60_000, "60 s"],
    [119_000, "119 s"],
    [120_000, "2 min"],
    [600_000, "10 min"],
    [7_200_000, "2 h"],
  ])("says %d ms as %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

describe("byteSize", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [64 * 1024 ** 2, "64 MiB"],
    [2.5 * 1024 ** 2, "2.5 MiB"],
    [3 * 1024 ** 3, "3 GiB"],
  ])("says %d as %s", (bytes, text) => {
    expect(byteSize(bytes)).toBe(text);
  });
});

describe("asText", () => {
  let nested: unknown = {};
  for (let level = 0; level < 100_000; level += 1) nested = { nested };

  it.each<[string, unknown, string]>([
    ["text", "hi", "hi"],
    ["an object", { a: [1] }, '{"a":[1]}'],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a value deeper than the stack", nested, "(nested too deep to show)"],
  ])("writes %s", (_, value, text) => {
    expect(asText(value)).toBe(text);
  });
});

describe("excerpt", () => {
  const redact = (text: string, isCut: boolean): string =>
    `${text.replaceAll("s3cret", "*")}${isCut ? "|" : ""}`;

  it.each<[string, unknown, string]>([
    ["a value", { a: [1, null] }, '{"a":[1,null]}'],
    ["a text as it is, on one line", "one\n\ttwo \u001b[31mred\u001b[0m", "one two red"],
    ["nothing", undefined, "undefined"],
    ["no secret, even one with something invisible in it", "s3\u200bcret!", "*!"],
    ["no part of a secret where it is cut", `${"x".repeat(197)}s3cret!`, `${"x".repeat(197)}*!`],
    ["200 characters", "x".repeat(300), `${"x".repeat(199)}…`],
  ])("shows %s", (_, value, shown) => {
    expect(excerpt(value, redact)).toBe(shown);
  });

  it("tells where it has not read everything", () => {
    const seen: [number, boolean][] = [];
    const record = (text: string, isCut: boolean): string => {
      seen.push([text.length, isCut]);
      return text;
    };
    excerpt("x".repeat(1000), record);
    excerpt("x".repeat(1001), record);
    expect(seen).toEqual([
      [1000, false],
      [1000, true],
    ]);
  });
});

describe("shellQuoted", () => {
  it.each([
    ["plain", "plain"],
    ["a=1", "a=1"],
    ["größe=5°", "größe=5°"],
    ["a=two words", "a='two words'"],
    ["a:={}", "a:='{}'"],
    ["it's", "'it'\\''s'"],
    ["two words=x", "'two words=x'"],
    ["", "''"],
    ["$x", "'$x'"],
    ["a=\nb", "a='\nb'"],
  ])("writes %j as %s", (word, quoted) => {
    expect(shellQuoted(word)).toBe(quoted);
  });
});
