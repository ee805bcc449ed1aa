import { describe, expect, it } from "vitest";
import { BoardLogLevel } from "../../../src/core/board/log-level.ts";
import type { LogLevel } from "../../../src/core/types/logger.ts";
import type { ServerLogLevel } from "../../../src/core/types/server-log.ts";

describe("the level that servers are told", () => {
  it.each<[LogLevel | undefined, ServerLogLevel | undefined, ServerLogLevel]>([
    [undefined, undefined, "warning"],
    ["warn", undefined, "warning"],
    ["debug", undefined, "debug"],
    ["error", undefined, "error"],
    ["warn", "debug", "debug"],
    ["warn", "notice", "notice"],
    ["warn", "emergency", "warning"],
    ["error", "critical", "error"],
  ])("for the board's %s and its clients' %s is %s", (own, wanted, expected) => {
    const level = new BoardLogLevel(own);
    level.set(wanted);
    expect(level.current()).toBe(expected);
  });

  it("is told again only when it changes", () => {
    const level = new BoardLogLevel("warn");
    const told: string[] = [];
    const off = level.onChange(() => told.push(level.current()));
    for (const each of ["error", "info", "info", "debug", undefined] as const) level.set(each);
    off();
    level.set("debug");
    expect(told).toEqual(["info", "debug", "warning"]);
  });

  it("of a shared server is the lowest that any session wants, until the session ends", () => {
    const base = new BoardLogLevel("warn");
    const [one, two] = [new BoardLogLevel("warn", base), new BoardLogLevel("warn", base)];
    one.set("debug");
    two.set("info");
    expect([base, one, two].map((each) => each.current())).toEqual(["debug", "debug", "info"]);
    one.close();
    expect(base.current()).toBe("info");
    two.close();
    expect(base.current()).toBe("warning");
  });

  it("must be one of the protocol's", () => {
    expect(() => new BoardLogLevel().set("verbose" as ServerLogLevel)).toThrow(
      "there is no log level 'verbose'; expected debug, info, notice",
    );
  });
});
