import { describe, expect, it } from "vitest";
import { failedResult, unknownTool } from "../../src/bridge/model-call.ts";
import { PlugboardError } from "../../src/model/errors.ts";

describe("a call that a model made", () => {
  it.each([
    ["ecoh", ["echo", "add"], "there is no tool named 'ecoh'", "did you mean 'echo'?"],
    ["something else", ["echo"], "there is no tool named 'something else'", undefined],
    ["x\ny", [], "there is no tool named 'x y'", undefined],
  ])("to %j, which there is not, is told so", (name, names, message, hint) => {
    expect(unknownTool(name, names)).toMatchObject({ code: "UNKNOWN_TOOL", message, hint });
  });

  it("and that failed is a result in words, with the outcome beside it", () => {
    const error = new PlugboardError("TIMEOUT", "it took too long", { hint: "ask for less" });
    expect(failedResult(error)).toEqual({
      content: [{ type: "text", text: "it took too long (ask for less)" }],
      isError: true,
      details: {
        content: [{ type: "text", text: "it took too long (ask for less)" }],
        isError: true,
        failure: { code: "TIMEOUT", message: "it took too long (ask for less)" },
      },
    });
  });
});
