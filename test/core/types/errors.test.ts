import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { PlugboardError, toPlugboardError, unknownServer } from "../../../src/core/types/errors.ts";

describe("PlugboardError", () => {
  it("has a code, and other details only if they are given", () => {
    const error = new PlugboardError("TIMEOUT", "no answer");
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "PlugboardError",
      code: "TIMEOUT",
      message: "no answer",
      server: undefined,
      hint: undefined,
      permanent: false,
      problems: [],
    });
    expect("cause" in error).toBe(false);
    expect(String(error)).toBe("PlugboardError: no answer");
    expect(inspect(error)).toMatch(/\{\s+code: 'TIMEOUT'\s+\}$/);
  });

  it("keeps every detail", () => {
    const cause = new Error("below");
    const problems = [{ path: "agents", message: "is missing" }];
    const details = { cause, server: "docs", hint: "try again", permanent: true, problems };
    expect(new PlugboardError("CONFIG_INVALID", "wrong", details)).toMatchObject(details);
  });
});

describe("toPlugboardError", () => {
  it("returns a PlugboardError unchanged", () => {
    const error = new PlugboardError("TIMEOUT", "no answer");
    expect(toPlugboardError(error, "PROTOCOL", { hint: "other" })).toBe(error);
  });

  it.each([
    ["an error", new TypeError("not a function"), "not a function"],
    ["a string", "just text", "just text"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
  ])("wraps %s that was thrown", (_, thrown, message) => {
    const error = toPlugboardError(thrown, "TOOL_FAILED", { server: "docs" });
    expect(error).toMatchObject({ code: "TOOL_FAILED", message, server: "docs" });
    expect(error.cause).toBe(thrown);
  });
});

describe("a server that is not there", () => {
  it.each([
    [[], "no servers are configured"],
    [["files", "docs"], "the servers are: files, docs"],
    [["files", "docs", "zzz"], "did you mean 'zzz'?"],
    [Array.from({ length: 22 }, (_, at) => `s${at}`), /^the servers are: s0, .*, s19 and 2 more$/],
  ])("names those that are: %j", (names, hint) => {
    expect(unknownServer("zzzz", names).hint).toEqual(
      typeof hint === "string" ? hint : expect.stringMatching(hint),
    );
  });
});
