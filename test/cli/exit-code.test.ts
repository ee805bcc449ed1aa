import { describe, expect, it } from "vitest";
import { exitCodeFor, exitCodeOf } from "../../src/cli/exit-code.ts";
import type { ErrorCode } from "../../src/core/types/errors.ts";
import type { CallOutcome } from "../../src/core/types/tool.ts";

describe("the exit code", () => {
  it.each<[ErrorCode, number]>([
    ["SERVER_ERROR", 1],
    ["TOOL_FAILED", 1],
    ["CONFIG_INVALID", 2],
    ["UNKNOWN_TOOL", 2],
    ["UNKNOWN_SERVER", 2],
    ["INVALID_ARGUMENTS", 2],
    ["UNRESOLVED_VALUE", 2],
    ["UNTRUSTED", 2],
    ["SERVER_UNAVAILABLE", 3],
    ["SPAWN_FAILED", 3],
    ["HANDSHAKE_FAILED", 3],
    ["CONNECTION_CLOSED", 3],
    ["MESSAGE_TOO_LARGE", 3],
    ["TIMEOUT", 3],
    ["CANCELLED", 130],
  ])("for %s is %i", (code, expected) => {
    expect(exitCodeFor(code)).toBe(expected);
  });

  it.each<[string, CallOutcome, number]>([
    ["an answer", { content: [] }, 0],
    ["an error of the tool's own", { content: [], isError: true }, 1],
    ["no answer", { content: [], isError: true, failure: { code: "TIMEOUT", message: "" } }, 3],
  ])("of a call with %s", (_, outcome, expected) => {
    expect(exitCodeOf(outcome)).toBe(expected);
  });
});
