import { describe, expect, it } from "vitest";
import { closest } from "../../src/util/closest.ts";

const KEYS = [
  "enabled",
  "transport",
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "timeout",
  "toolTimeout",
  "restartOnCrash",
  "maxRestarts",
  "tools",
];

const TOOLS = [
  "mcp__files__read_file",
  "mcp__files__read_media_file",
  "mcp__files__write_file",
  "mcp__everything__echo",
  "mcp__memory__search_nodes",
];

describe("closest", () => {
  it.each([
    ["a letter too few", "comand", "command"],
    ["a letter too many", "argss", "args"],
    ["another letter", "commend", "command"],
    ["two neighbours swapped", "evn", "env"],
    ["a swap at the end", "cdw", "cwd"],
    ["other case", "TIMEOUT", "timeout"],
    ["other case inside", "tooltimeout", "toolTimeout"],
    ["a beginning", "restart", "restartOnCrash"],
    ["a key as the beginning of a longer word", "environment", "env"],
    ["a key as the end of a longer word", "requestTimeout", "timeout"],
    ["a near spelling rather than a beginning", "tool", "tools"],
  ])("finds a key from %s", (_, word, expected) => {
    expect(closest(word, KEYS)).toBe(expected);
  });

  it.each([
    ["its own short name", "read_file", "mcp__files__read_file"],
    ["a typo in the long name", "mcp__evrything__ecko", "mcp__everything__echo"],
    ["a hyphen for an underscore", "mcp__files__write-file", "mcp__files__write_file"],
    ["a part in the middle", "search", "mcp__memory__search_nodes"],
    ["the server alone: the shortest name", "mcp__files", "mcp__files__read_file"],
  ])("finds a tool from %s", (_, word, expected) => {
    expect(closest(word, TOOLS)).toBe(expected);
  });

  it.each([
    ["nothing alike", "zebra"],
    ["an empty word", ""],
    ["a fragment of two letters", "el"],
  ])("finds nothing for %s", (_, word) => {
    expect(closest(word, KEYS)).toBeUndefined();
  });

  it.each([
    ["echo/ad", ["echo/pid", "echo/cwd"]],
    ["mcp__files__read", ["mcp__files__stat", "mcp__files__move"]],
    ["files/get_time", ["files/get_size"]],
  ])("does not take a common beginning for likeness: %s and %j", (word, candidates) => {
    expect(closest(word, candidates)).toBeUndefined();
  });

  it("finds nothing among no candidates", () => {
    expect(closest("url", [])).toBeUndefined();
  });

  it("prefers the first of equally near candidates", () => {
    expect(closest("cat", ["bat", "hat"])).toBe("bat");
  });

  it("gives up on words that differ all along", () => {
    expect(closest("abcdefghijkl", ["mnopqrstuvwx"])).toBeUndefined();
  });

  it("looks at no more than the first 128 characters", () => {
    const long = "x".repeat(128);
    expect(closest(`${long}${"a".repeat(1_000_000)}`, [`${long}b`])).toBe(`${long}b`);
  });
});
