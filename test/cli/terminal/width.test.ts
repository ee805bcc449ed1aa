import { describe, expect, it } from "vitest";
import { clientEntries } from "../../../src/serve/gateway/access/client-entries.ts";
import {
  cut,
  displayWidth,
  wrap,
  wrapIndented,
  wrapLine,
} from "../../../src/cli/terminal/width.ts";

describe("displayWidth", () => {
  it.each([
    ["plain", 5],
    ["", 0],
    ["naïve", 5],
    ["日本語", 6],
    ["한국", 4],
    ["ｆｕｌｌ", 8],
    ["🚀 go", 5],
    ["e\u0301", 1],
    ["𠮷", 2],
    ["…", 1],
    ["✓ ready", 7],
    ["👨‍👩‍👧 x", 4],
    ["👩🏽‍💻", 2],
    ["👍🏽👍", 4],
    ["❤️", 2],
    ["🇳🇴🇸🇪", 4],
    ["1️⃣2", 3],
    ["a\u200db", 2],
  ])("of %j is %i cells", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe("cut", () => {
  it.each([
    ["short", 10, "short"],
    ["exactly", 7, "exactly"],
    ["a longer text", 9, "a longer…"],
    ["no blank before the mark", 3, "no…"],
    ["日本語テキスト", 7, "日本語…"],
    ["日本語テキスト", 6, "日本…"],
    ["ab👨‍👩‍👧cd", 5, "ab👨‍👩‍👧…"],
    ["ab👨‍👩‍👧cd", 4, "ab…"],
    ["anything", 1, "…"],
  ])("%j to %i cells is %j", (text, width, expected) => {
    expect(cut(text, width)).toBe(expected);
  });
});

describe("wrapIndented", () => {
  it.each([
    ["    one two three four five", 24, ["    one two three four", "      five"]],
    ["no margin at all, and too long", 22, ["no margin at all,", "  and too long"]],
    ["  as it is", undefined, ["  as it is"]],
    ["", 30, [""]],
  ])("%j to %s cells", (line, width, lines) => {
    expect(wrapIndented(line, width)).toEqual(lines);
  });
});

describe("wrap", () => {
  it.each([
    ["one two three", 7, ["one two", "three"]],
    ["one two three", undefined, ["one two three"]],
    ["", 5, [""]],
    ["unbreakable", 4, ["unbr", "eaka", "ble"]],
    ["a unbreakable b", 6, ["a", "unbrea", "kable", "b"]],
    ["日本語 テキスト", 6, ["日本語", "テキス", "ト"]],
  ])("%j to %s cells", (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  it("takes linear time on a word of megabytes", () => {
    expect(wrap("x".repeat(4_000_000), 80)).toHaveLength(50_000);
  });

  it("of a line for a person keeps long words, indented lines and colours whole", () => {
    expect(
      [
        "one two three",
        "a unbreakable b",
        "  plugboard call x",
        "\u001b[31mone\u001b[39m two three",
      ].map((line) => wrapLine(line, 7)),
    ).toEqual([
      ["one two", "three"],
      ["a", "unbreakable", "b"],
      ["  plugboard call x"],
      ["\u001b[31mone\u001b[39m two", "three"],
    ]);
    expect(wrapLine("one two three")).toEqual(["one two three"]);
    expect(wrapLine("  mcp.x  unknown key; expected a or b", 20)).toEqual([
      "  mcp.x  unknown",
      "    key; expected a",
      "    or b",
    ]);
    expect(wrapLine("  it isn't there, so you can't", 20)).toEqual([
      "  it isn't there, so",
      "    you can't",
    ]);
  });

  it.each([
    "  chmod go-w /a/long/path",
    '  "command": "npx", "args": []',
    '  curl https://a.example/mcp --header "Authorization: Bearer x"',
    "  env GREETING='hello, world' npx -y some-server",
    ...clientEntries("https://a.example/mcp", "plug_x").flatMap(({ lines }) =>
      lines.map((line) => `  ${line}`),
    ),
  ])("never breaks what is copied: %s", (line) => {
    expect(wrapLine(line, 20)).toEqual([line]);
  });

  it("breaks after each character where only one wide character fits", () => {
    expect(wrap("日本", 1)).toEqual(["日", "本"]);
  });
});
