import { describe, expect, it } from "vitest";
import { describeTerminal } from "../../../src/cli/terminal/terminal.ts";
import { Sink, terminal } from "../harness.ts";

const red = "\u001b[31mx\u001b[39m";

describe("a terminal", () => {
  it.each<[string, number | undefined, Record<string, string>, boolean]>([
    ["a terminal", 80, {}, true],
    ["a pipe", undefined, {}, false],
    ["a terminal with NO_COLOR", 80, { NO_COLOR: "1" }, false],
    ["a terminal with an empty NO_COLOR", 80, { NO_COLOR: "" }, true],
    ["a pipe with FORCE_COLOR", undefined, { FORCE_COLOR: "1" }, true],
    ["a terminal with FORCE_COLOR=0", 80, { FORCE_COLOR: "0" }, false],
    ["both, where NO_COLOR wins", 80, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    ["a dumb terminal", 80, { TERM: "dumb" }, false],
  ])("uses colour or not: %s", (_, columns, env, expected) => {
    expect(terminal(columns, env).out.paint("red", "x")).toBe(expected ? red : "x");
  });

  it("has no colour with --no-color", () => {
    const stdout = new Sink({ columns: 80 });
    const { out } = describeTerminal({ stdout, stderr: stdout, env: { FORCE_COLOR: "1" } }, false);
    expect(out.paint("red", "x")).toBe("x");
  });

  it("leaves an empty text without colour codes", () => {
    expect(terminal(80).out.paint("red", "")).toBe("");
  });

  it.each<[string, number | undefined, Record<string, string>, boolean]>([
    ["a terminal", 80, {}, true],
    ["a pipe", undefined, {}, false],
    ["a dumb terminal", 80, { TERM: "dumb" }, false],
    ["a terminal in CI", 80, { CI: "true" }, false],
    ["a terminal with CI=false", 80, { CI: "false" }, true],
  ])("redraws rows as %s can", (_, columns, env, expected) => {
    expect(terminal(columns, env).live).toBe(expected);
  });

  it.each<[string, number | undefined, number | undefined]>([
    ["as wide as it is", 120, 120],
    ["80 wide where it does not know", 0, 80],
    ["of no width as a pipe", undefined, undefined],
  ])("is %s", (_, columns, width) => {
    expect(terminal(columns).out.width).toBe(width);
  });

  it.each([
    [{}, true],
    [{ TERM: "xterm-256color" }, true],
    [{ TERM: "linux" }, false],
    [{ TERM: "dumb" }, false],
  ])("with %j shows symbols: %s", (env, unicode) => {
    expect(terminal(80, env as Record<string, string>).unicode).toBe(unicode);
  });
});
