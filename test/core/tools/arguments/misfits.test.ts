import { describe, expect, it } from "vitest";
import { misfitNote, misfitsIn } from "../../../../src/core/tools/arguments/misfits.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { CallOutcome } from "../../../../src/core/types/tool.ts";

const schema = {
  type: "object",
  properties: {
    query: { type: "string" },
    limit: { type: "integer", minimum: 1 },
    order: { enum: ["up", "down"] },
    at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
  },
  required: ["query"],
};

describe("what does not fit", () => {
  it.each<[string, unknown, string[] | undefined]>([
    ["nothing", { query: "a", limit: 2, order: "up", at: { x: 1 }, more: true }, undefined],
    ["a missing argument", {}, ["query: missing, expected string"]],
    ["another type", { query: 5 }, ["query: expected string, got 5"]],
    [
      "no choice",
      { query: "a", order: "left" },
      ['order: expected one of "up" | "down", got "left"'],
    ],
    ["a limit", { query: "a", limit: 0 }, ["limit: expected at least 1, got 0"]],
    ["something within", { query: "a", at: {} }, ["at.x: missing, expected number"]],
    ["arguments that are no object", "query", undefined],
    [
      "arguments that cannot be read",
      {
        get query(): never {
          throw new Error("no");
        },
      },
      undefined,
    ],
    [
      "a word without an end",
      { query: "a", order: "\n".repeat(9999) },
      [expect.any(String) as string],
    ],
  ])("%s", (_, args, expected) => {
    expect(misfitsIn(args, schema)).toEqual(expected);
  });

  it("of many, the first are named", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`a${at}`, { type: "string" }]),
    );
    const found = misfitsIn({}, { type: "object", properties, required: Object.keys(properties) });
    expect(found).toHaveLength(11);
    expect(found?.at(-1)).toBe("and 40 more");
  });
});

describe("the note on a call", () => {
  const failed = (code: NonNullable<CallOutcome["failure"]>["code"]): CallOutcome => ({
    content: [],
    isError: true,
    failure: { code, message: "" },
  });
  it.each<[string, CallOutcome, JsonObject, boolean]>([
    ["that the tool failed", { content: [], isError: true }, {}, true],
    ["that its server refused", failed("SERVER_ERROR"), {}, true],
    ["in which its server ended", failed("CONNECTION_CLOSED"), {}, true],
    ["that worked", { content: [] }, {}, false],
    ["that failed with arguments that fit", { content: [], isError: true }, { query: "a" }, false],
    ["that a rule refused", failed("REFUSED_BY_POLICY"), {}, false],
    ["that was not approved", failed("NOT_APPROVED"), {}, false],
    ["that was cancelled", failed("CANCELLED"), {}, false],
    ["whose arguments were checked", failed("INVALID_ARGUMENTS"), {}, false],
  ])("%s", (_, outcome, args, isThere) => {
    const note = "The arguments do not fit the tool's schema:\n- query: missing, expected string";
    expect(misfitNote(outcome, args, schema)).toBe(isThere ? note : undefined);
  });
});
