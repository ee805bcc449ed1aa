import { describe, expect, it } from "vitest";
import { createLog, type LogThreshold } from "../../../src/cli/terminal/log.ts";
import { painter } from "../../../src/cli/terminal/terminal.ts";
import type { LogFields, LogLevel } from "../../../src/core/types/logger.ts";

function logged(
  level: LogThreshold,
  entries: readonly [LogLevel, string, LogFields?][],
  format: "text" | "json" = "text",
  color = false,
  isStateShown = true,
): string[] {
  const lines: string[] = [];
  const log = createLog({
    level,
    format,
    isStateShown,
    showsStderr: true,
    apart: (text) => text.split(" $ "),
    paint: painter(color),
    write: (line) => lines.push(line),
  });
  for (const [at, message, fields] of entries) log[at](message, fields);
  return lines;
}

const every: readonly [LogLevel, string][] = [
  ["debug", "d"],
  ["info", "i"],
  ["warn", "w"],
  ["error", "e"],
];

describe("the log", () => {
  it.each<[LogThreshold, string[]]>([
    ["debug", ["debug d", "info  i", "warn  w", "error e"]],
    ["info", ["info  i", "warn  w", "error e"]],
    ["warn", ["warn  w", "error e"]],
    ["error", ["error e"]],
    ["silent", []],
  ])("at %s shows %j", (level, lines) => {
    expect(logged(level, every)).toEqual(lines);
  });

  it.each<[string, string, LogFields, string]>([
    ["its server", "ready", { server: "github" }, "warn  github: ready"],
    ["its fields", "ready", { ms: 12, reason: "a b" }, 'warn  ready ms=12 reason="a b"'],
    ["nested fields", "left", { pids: [1, 2] }, "warn  left pids=[1,2]"],
    ["fields that JSON cannot say", "left", { what: Symbol("x") }, "warn  left what=Symbol(x)"],
    [
      "fields that are nested too deep",
      "left",
      { what: JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) },
      "warn  left what=(nested too deep to show)",
    ],
    ["no fields without a value", "left", { server: "a", tool: undefined }, "warn  a: left"],
    ["its tool", "left out", { server: "a", tool: "b" }, "warn  a/b: left out"],
    ["its prompt", "new", { server: "a", subject: "prompt:b" }, "warn  a/prompt:b: new"],
    ["a tool without a server", "odd", { tool: "a/b" }, "warn  odd tool=a/b"],
    ["a server's own words", "  hi there", { server: "a", stream: "stderr" }, "a |   hi there"],
    [
      "a command below its fields",
      "new $ approve",
      { server: "a", of: 1 },
      "warn  a: new of=1\napprove",
    ],
    ["no escapes", "\u001b[31mred\nline", { server: "\u001b[1ma" }, "warn  a: red line"],
  ])("says %s", (_, message, fields, line) => {
    expect(logged("warn", [["warn", message, fields]])).toEqual([line]);
  });

  it("leaves out the state of servers by default where the command shows it", () => {
    const entry: [LogLevel, string, LogFields] = ["warn", "start failed", { state: "failed" }];
    const line = "warn  start failed state=failed";
    expect(logged("warn", [entry])).toEqual([]);
    expect(logged("info", [entry])).toEqual([line]);
    expect(logged("warn", [entry], "text", false, false)).toEqual([line]);
  });

  it("colours the level", () => {
    expect(logged("warn", [["error", "x"]], "text", true)).toEqual(["\u001b[31merror\u001b[39m x"]);
  });

  it("prints lines of JSON for programs", () => {
    const lines = logged(
      "warn",
      [
        ["warn", "ready", { server: "a" }],
        ["error", "b"],
      ],
      "json",
    );
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { level: "warn", time: expect.any(Number), server: "a", msg: "ready" },
      { level: "error", time: expect.any(Number), msg: "b" },
    ]);
  });

  it.each<[LogThreshold, boolean, string[]]>([
    ["warn", true, ["info  session begins caller=a"]],
    ["warn", false, []],
    ["error", true, []],
    ["silent", true, []],
  ])("at %s shows who comes and goes where that is wanted: %s", (level, showsVisits, shown) => {
    const lines: string[] = [];
    const log = createLog({
      level,
      format: "text",
      isStateShown: false,
      showsVisits,
      showsStderr: false,
      apart: (text) => [text],
      paint: painter(false),
      write: (line) => lines.push(line),
    });
    log.info("session begins", { visit: "session", caller: "a" });
    log.info("ready", {});
    log.error("what a server wrote", { server: "a", stream: "stderr" });
    expect(lines).toEqual(shown);
  });
});
