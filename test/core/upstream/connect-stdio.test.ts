import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { exitReason } from "../../../src/core/upstream/connect-stdio.ts";

const seen = new PlugboardError("CONNECTION_CLOSED", "the server closed its output");

describe("exitReason", () => {
  it.each([
    [{ code: 1, signal: null }, "the server exited with code 1"],
    [{ code: 0, signal: null }, "the server exited with code 0"],
    [{ code: null, signal: "SIGKILL" as const }, "the server was ended by SIGKILL"],
    [{ code: null, signal: null }, "the server exited with code unknown"],
  ])("of %j is: %s", (status, message) => {
    expect(exitReason(status, undefined, seen)).toMatchObject({
      code: "CONNECTION_CLOSED",
      message,
      cause: seen,
    });
  });

  it("without an exit status is what the transport saw, or that the connection ended", () => {
    expect(exitReason(undefined, undefined, seen).message).toBe("the server closed its output");
    expect(exitReason(undefined, undefined).message).toBe("the connection ended");
    expect(exitReason(undefined, undefined).cause).toBeUndefined();
  });

  it("ends with what the server said about it, and has the remedy as its hint", () => {
    const cause = {
      line: "Error: API_KEY is not set",
      from: "stderr" as const,
      isReason: true,
      remedy: "set it",
    };
    expect(exitReason({ code: 1, signal: null }, cause, seen)).toMatchObject({
      message: "the server exited with code 1: Error: API_KEY is not set",
      hint: "set it",
      cause: seen,
    });
  });
});
